import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderPicture } from '../../../scripts/lib/terminal-picture.mjs';
import { parseScreen } from '../../../scripts/lib/terminal-screen.mjs';

const REPOSITORY = join(import.meta.dirname, '../../..');
const PLAIN = { fg: null, bg: null, bold: false, dim: false, italic: false, underline: false };

const picture = (...screens: string[]) =>
  renderPicture({
    frames: screens.map((screen, index) => ({ screen, caption: `moment ${index}`, seconds: index + 1 })),
    columns: 20,
    rows: 3,
    still: 0,
    description: 'a <test>',
  });
const texts = (svg: string) => svg.match(/<text x="\d+" y="13".*?<\/text>/g);

describe('parseScreen', () => {
  it('reads runs of one look with the column they start in, over line ends too', () => {
    expect(parseScreen('a\u001b[1;31mbc\nd\u001b[0me')).toEqual([
      [
        { text: 'a', column: 0, width: 1, style: PLAIN },
        { text: 'bc', column: 1, width: 2, style: { ...PLAIN, fg: '#ff7b72', bold: true } },
      ],
      [
        { text: 'd', column: 0, width: 1, style: { ...PLAIN, fg: '#ff7b72', bold: true } },
        { text: 'e', column: 1, width: 1, style: PLAIN },
      ],
    ]);
  });

  it.each([
    ['30;42', { fg: '#161b22', bg: '#3fb950' }],
    ['92;100', { fg: '#56d364', bg: '#6e7681' }],
    ['38;5;208', { fg: '#ff8700' }],
    ['48;5;240', { bg: '#585858' }],
    ['38;5;4;3', { fg: '#58a6ff', italic: true }],
    ['38;2;1;2;255', { fg: '#0102ff' }],
    ['31;39;2;4', { dim: true, underline: true }],
    ['1;2;22', {}],
    ['7', { fg: 'background', bg: 'foreground' }],
    ['32;7', { fg: 'background', bg: '#3fb950' }],
    ['7;27;58', {}],
    ['', {}],
  ])('knows the look %s', (codes, style) => {
    expect(parseScreen(`\u001b[${codes}mx`)[0]?.[0]?.style).toEqual({ ...PLAIN, ...style });
  });

  it('counts two cells for wide characters, and none for what is no colour', () => {
    expect(parseScreen('日本\u001b[1m🚀\u001b]8;;https://a.b\u001b\\é\u000f')[0]).toEqual([
      { text: '日本', column: 0, width: 4, style: PLAIN },
      { text: '🚀', column: 4, width: 2, style: { ...PLAIN, bold: true } },
      { text: 'é', column: 6, width: 1, style: { ...PLAIN, bold: true } },
    ]);
  });
});

describe('renderPicture', () => {
  it('escapes what is shown, in captions and descriptions too', () => {
    const svg = picture('a <b> & "c"');
    expect(texts(svg)).toEqual(['<text x="0" y="13" textLength="88">a &lt;b&gt; &amp; &quot;c&quot;</text>']);
    expect(svg).toContain('<title>a &lt;test&gt;</title>');
  });

  it('places each word behind a gap, a wide character or a symbol by itself', () => {
    expect(texts(picture('  one two   日x ✻ ok'))).toEqual([
      '<text x="16" y="13" textLength="56">one two</text>',
      '<text x="96" y="13">日</text>',
      '<text x="112" y="13">x</text>',
      '<text x="128" y="13">✻</text>',
      '<text x="144" y="13" textLength="16">ok</text>',
    ]);
  });

  it('draws lines as strokes, one for as far as it goes', () => {
    expect(picture('──┬── ─')).toContain('d="M0 8.5H40M48 8.5H56M20 8.5V17"');
    expect(picture('│ ┘')).toContain('d="M16 8.5H20M4 0V17M20 0V8.5"');
  });

  it('gives colours a class each, and backgrounds their cells, spaces too', () => {
    const svg = picture('\u001b[42;30m ok  \u001b[0m');
    expect(svg).toContain('<rect x="0" width="40" height="17" fill="#3fb950"/>');
    expect(svg).toContain('<text x="8" y="13" textLength="16" class="s0">ok</text>');
    expect(svg).toContain('.s0{fill:#161b22;}');
  });

  it('draws a row once that several moments show', () => {
    const svg = picture('same', 'same\nother');
    expect(texts(svg)).toHaveLength(2);
    expect(svg.match(/<use href="#r0" y="0"\/>/g)).toHaveLength(2);
  });

  it('shows each moment for its seconds, and the one that stands for all where nothing may move', () => {
    const svg = picture('a', 'b');
    expect(svg).toContain('.frame{visibility:hidden;animation:3s step-end infinite}.f0{visibility:visible}');
    expect(svg).toContain('@keyframes p0{0%{}0%{visibility:visible}33.333%{visibility:hidden}}');
    expect(svg).toContain('@keyframes p1{0%{visibility:hidden}33.333%{visibility:visible}100%{}}');
    expect(svg).toContain('@media(prefers-reduced-motion:reduce){.frame{animation:none}}');
  });

  it('leaves out what is below the last row', () => {
    expect(texts(picture('1\n2\n3\n4'))).toHaveLength(3);
  });
});

describe('docs/demo.svg', () => {
  const svg = readFileSync(join(REPOSITORY, 'docs/demo.svg'), 'utf8');

  it('is small, brings nothing from outside and runs nothing', () => {
    expect(svg.length).toBeLessThan(150_000);
    expect(svg).not.toMatch(/<script|<image|<foreignObject|@import|url\(|\son\w+=|href="(?!#)/i);
  });

  it('shows the way from a goal to one branch, and no folder but those of the demo', () => {
    for (const words of ['spawn_worker(', 'went back to w02', 'git merge agentorchestr/'])
      expect(svg).toContain(words);
    const places = [...svg.matchAll(/(?<=[ >])\/\w+\/[\w-]+/g)].map(String);
    expect(places.filter((place) => !place.startsWith('/tmp/agentorchestr-demo-'))).toEqual([]);
  });
});
