// The button that changes between the colours of the system, light and dark. Debian's furo.js has
// it too, but is a module, which browsers do not load from files.
window.addEventListener("load", () => {
  if (!document.documentElement.classList.contains("no-js")) return;
  document.documentElement.classList.remove("no-js");
  const modes = ["auto", "light", "dark"], theme = document.body.dataset;
  for (const button of document.getElementsByClassName("theme-toggle"))
    button.addEventListener("click", () => {
      theme.theme = modes[(modes.indexOf(theme.theme) + 1) % modes.length];
      localStorage.setItem("theme", theme.theme);
    });
});
