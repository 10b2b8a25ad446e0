"""The command `certreg`.

Layers of the modules; each module imports only from modules that come before it here::

    start        streams options
    files        files report loading
    commands     run attack train info
    entry        main"""
