#!/usr/bin/env bash
# links.sh: every relative link in the Markdown pages leads to a file that exists and, with an
# anchor, to a heading of that page; and every section of docs/theory that is cited ("theory 5.2")
# has a heading. Anchors are made as GitHub makes them. Links to other sites are not followed.
cd "$(dirname "$0")/.." || exit 2
command -v perl > /dev/null || { echo "not ok links.sh needs perl"; exit 1; }
# PATTERN...: files of the repository, new ones too; in a tree without git, all except products.
tracked() {
    git ls-files -co --exclude-standard -- "$@" 2> /dev/null && return
    for pattern; do
        find . -name "$pattern" -not -path './lib/*' -not -path '*/.*/*' -printf '%P\n'
    done
}

pages=$(tracked '*.md')
sources=$(tracked '*.md' '*.[ch]' '*.[ch]pp' '*.cu' '*.cuh' '*.py' '*.sh' '*.mk' Makefile)
exec perl - "$pages" "$sources" << 'END'
use strict; use warnings;
binmode STDOUT, ':utf8';
my (%anchors, $bad, $links, $cites);
sub fail { print "not ok $_[0]\n"; $bad = 1 }
sub content {
    open my $file, "<:utf8", $_[0] or die "$_[0]: $!\n";
    chomp(my @lines = <$file>);
    @lines
}

# Lines without code: fences and indented blocks are emptied, code spans as well.
sub prose {
    my ($fence, $blank, $list) = (0, 1, 0);
    my $text = join "\n", map {
        my $mark = /^\s*(```|~~~)/;
        # What is indented after an item of a list belongs to the item.
        $list = /^\s*([-*+]|\d+\.) / if /^\S/ || !$list;
        my $code = $fence || $mark || ($blank && !$list && /^(    |\t)/);
        $fence = !$fence if $mark;
        $blank = /^\s*$/ || ($blank && $code);
        $code ? "" : $_
    } @_;
    $text =~ s/(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/my $s = $2; $s =~ tr{\n}{}cd; $s/gse;
    split /\n/, $text, -1
}
sub slug {
    my $title = lc shift;
    $title =~ s/\[([^\]]*)\]\([^)]*\)/$1/g;
    $title =~ s/[^\w\- ]//g;
    $title =~ tr/ /-/r
}
sub anchors_of { # PAGE: the anchors of its headings; a heading that returns gets a number
    my ($page, $fence, %seen, %set) = (shift, 0);
    for (content($page)) {
        $fence = !$fence if /^\s*(```|~~~)/;
        next if $fence;
        $set{$1} = 1 while /<a (?:name|id)="([^"]+)"/g;
        next unless /^#{1,6}\s+(.*?)\s*#*\s*$/;
        my $slug = slug($1);
        $set{$seen{$slug}++ ? "$slug-" . ($seen{$slug} - 1) : $slug} = 1;
    }
    \%set
}
sub target_of { # PAGE PATH: the path from the root, without "..", or undef if it leaves the root
    my @parts = split m{/}, shift; pop @parts;
    for (split m{/}, shift) {
        next if $_ eq "." || $_ eq "";
        if ($_ ne "..") { push @parts, $_ } elsif (@parts) { pop @parts } else { return undef }
    }
    join("/", @parts) || "."
}
sub check_link {
    my ($where, $page, $link) = @_;
    return if $link =~ /^[a-z][a-z0-9+.-]*:/i;
    $links++;
    my ($path, $anchor) = split /#/, $link, 2;
    $path =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge if defined $path;
    my $target = defined $path && length $path ? target_of($page, $path) : $page;
    return fail("$where leads to $link: there is no such file")
        unless defined $target && -e $target;
    return unless defined $anchor && $target =~ /\.md$/;
    $anchors{$target} //= anchors_of($target);
    fail("$where leads to $link: $target has no such heading") unless $anchors{$target}{$anchor};
}
sub check_page {
    my ($page, $number) = (shift, 0);
    for (prose(content($page))) {
        $number++;
        check_link("$page:$number", $page, $1) while /\]\(\s*<?([^)\s>]+)>?[^)]*\)/g;
        check_link("$page:$number", $page, $1) if /^\s*\[[^\]]+\]:\s*(\S+)/;
    }
}
sub check_citations {
    my ($file, $sections, $number) = (@_, 0);
    for (content($file)) {
        $number++;
        while (/\btheory ((?:\d+(?:\.\d+)?(?:, | and |(?=\D|$)))+)/gi) {
            for ($1 =~ /\d+(?:\.\d+)?/g) {
                $cites++;
                fail("$file:$number cites theory $_: there is no such section")
                    unless $sections->{$_};
            }
        }
    }
}

my ($pages, $sources) = map { [grep { -f } split /\n/] } @ARGV;
check_page($_) for @$pages;
my %sections;
for my $page (grep { m{^docs/theory/} } @$pages) {
    /^#{1,3} (\d+(?:\.\d+)?) / and $sections{$1} = 1 for content($page);
}
check_citations($_, \%sections) for @$sources;
fail("no link was found") unless $links;
fail("no citation was found") unless $cites;
print "ok $links links of ", scalar(@$pages), " pages lead somewhere\n" .
      "ok $cites citations of the theory name sections that exist\n" unless $bad;
exit($bad ? 1 : 0);
END
