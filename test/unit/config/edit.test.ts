import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { literal, withValue, withoutValue } from '../../../src/config/edit.js';
import { SETTINGS, type SettingValue } from '../../../src/config/schema.js';
import { setSetting } from '../../../src/config/set.js';
import { parseToml } from '../../../src/config/toml-file.js';
import { lineOfKey, scanToml } from '../../../src/config/toml-scan.js';
import { valuesOfFile } from '../../../src/config/values.js';

const set = (text: string, key: string, value: SettingValue) =>
  withValue(parseToml('f.toml', text), key.split('.'), value);

describe('one value changed in a text', () => {
  it.each([
    ['', 'lead', 'lead = "x"\n'],
    ['lead = "old" # why\n', 'lead', 'lead = "x" # why\n'],
    ['lead="old"', 'lead', 'lead="x"'],
    ['# all mine', 'lead', '# all mine\nlead = "x"\n'],
    ['fetch = true # f\r\n\r\n[limits]\r\n', 'lead', 'fetch = true # f\r\nlead = "x"\r\n\r\n[limits]\r\n'],
    ['[limits]\nmax_workers = 3\n', 'lead', 'lead = "x"\n\n[limits]\nmax_workers = 3\n'],
    ['lead = """a\n[b]\nc = 1"""\nfetch = true\n', 'lead', 'lead = "x"\nfetch = true\n'],
    ['[ tmux ] # t\n', 'tmux.user_config', '[ tmux ] # t\nuser_config = "x"\n'],
    ['fetch = true', 'tmux.user_config', 'fetch = true\n\n[tmux]\nuser_config = "x"\n'],
    [
      'agent_options."one".model = "m" # c',
      'agent_options.one.script',
      'agent_options."one".model = "m" # c\nagent_options.one.script = "x"\n',
    ],
    [
      '[agent_options]\none.model = "m"\n[limits]\n',
      'agent_options.one.script',
      '[agent_options]\none.model = "m"\none.script = "x"\n[limits]\n',
    ],
  ])('%j, %s', (text, key, expected) => expect(set(text, key, 'x')).toBe(expected));

  it('lists, over several lines and with comments, are one value', () => {
    expect(set('agents = [\n  "a", # one\n  "b]",\n] # all\nfetch = true\n', 'agents', ['c'])).toBe(
      'agents = ["c"] # all\nfetch = true\n',
    );
  });

  it('what cannot be changed alone is refused, with the line', () => {
    expect(() => set('fetch = true\nlimits = { max_workers = 3 }\n', 'limits.max_workers', 4)).toThrow(
      'f.toml:2: "limits.max_workers" cannot be set without changing more than that',
    );
  });
});

describe('one value taken out of a text', () => {
  const unset = (text: string, key: string) => withoutValue(parseToml('f.toml', text), key.split('.'));
  it.each([
    ['lead = "x" # why\nfetch = true\n', 'lead', 'fetch = true\n'],
    ['# mine\nlead = "x"', 'lead', '# mine\n'],
    ['\uFEFFlead = "x"\nfetch = true\n', 'lead', '\uFEFFfetch = true\n'],
    ['fetch = true\r\nagents = [\r\n  "a",\r\n] # all\r\n\r\n', 'agents', 'fetch = true\r\n\r\n'],
    ['[limits] # l\nmax_workers = 3\n# end\n', 'limits.max_workers', '[limits] # l\n# end\n'],
    ['  limits.max_workers = 3\nlead = "[limits]"', 'limits.max_workers', 'lead = "[limits]"'],
    ['nonsense = 1\nlead = "x"\n', 'nonsense', 'lead = "x"\n'],
    ['lead = "x"\n', 'fetch', null],
    ['[limits]\n', 'limits.max_workers', null],
  ])('%j, %s', (text, key, expected) => expect(unset(text, key)).toBe(expected));

  it('what cannot be taken out alone is refused, with the line', () => {
    expect(() => unset('fetch = true\nlimits = { max_workers = 3 }\n', 'limits.max_workers')).toThrow(
      'f.toml:2: "limits.max_workers" cannot be unset without changing more than that',
    );
  });

  it('what was set in any file is gone again, and nothing else', () => {
    fc.assert(
      fc.property(someFile, fc.nat(), (text, pick) => {
        const { entries } = parseToml('f.toml', text).places;
        const entry = entries[pick % Math.max(1, entries.length)];
        if (entry === undefined) return;
        const after = parseToml('f.toml', withoutValue(parseToml('f.toml', text), entry.path) ?? '');
        const others = entries.filter((other) => other !== entry).map(({ path }) => path);
        expect(after.places.entries.map(({ path }) => path)).toEqual(others);
        expect(after.text.split('\n').filter((left) => left.startsWith('#'))).toEqual(
          text.split('\n').filter((left) => left.startsWith('#')),
        );
      }),
      { numRuns: 100 },
    );
  });
});

const line = fc.constantFrom('', '# a comment', '   ', '# lead = "no"', '\t# [limits]');
const texts = fc.stringMatching(/^[ -~äß"'\\]{1,12}$/).filter((text) => text.trim() !== '');
const valueOf = (fallback: SettingValue | null, key: string): fc.Arbitrary<SettingValue> =>
  typeof fallback === 'boolean'
    ? fc.boolean()
    : key.startsWith('limits.') || typeof fallback === 'number'
      ? fc.integer({ min: 1, max: 64 })
      : key === 'agents' || key === 'verify'
        ? fc.array(texts, { minLength: 1, maxLength: 3 })
        : texts;

/** A file that somebody keeps: some settings, with comments and blank lines anywhere. */
const someFile = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(...SETTINGS), { selector: ({ key }) => key }),
    fc.array(line, { minLength: 40, maxLength: 40 }),
    fc.boolean(),
    fc.boolean(),
  )
  .chain(([settings, between, crlf, last]) =>
    fc.tuple(...settings.map(({ key, fallback }) => valueOf(fallback, key))).map((values) => {
      const lines: string[] = [];
      const filler = [...between];
      const pause = () => lines.push(filler.pop() ?? '');
      const sections = ['', 'limits', 'tmux'];
      for (const section of sections) {
        const inIt = settings.flatMap(({ key }, index) => {
          const [name = '', head = ''] = key.split('.').reverse();
          return head === section
            ? [`${name} = ${literal(values[index] ?? '')}${index % 2 === 0 ? '  # kept' : ''}`]
            : [];
        });
        if (section !== '' && inIt.length > 0) lines.push(`[${section}]`);
        for (const one of inIt) {
          pause();
          lines.push(one);
        }
        pause();
      }
      return lines.join(crlf ? '\r\n' : '\n') + (last ? (crlf ? '\r\n' : '\n') : '');
    }),
  );

function commonStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

it('[property] setting a value keeps every other byte as it was, and gives exactly that value', () => {
  fc.assert(
    fc.property(
      someFile,
      fc
        .constantFrom(...SETTINGS)
        .chain((setting) => fc.tuple(fc.constant(setting), valueOf(setting.fallback, setting.key))),
      (text, [setting, value]) => {
        const before = parseToml('f.toml', text);
        const path = setting.key.split('.');
        const after = withValue(before, path, value);
        const found = valuesOfFile(parseToml('f.toml', after), 'user');
        expect(found.find(({ key }) => key === setting.key)?.value).toEqual(value);
        const present = before.places.entries.find((entry) => entry.path.join('.') === setting.key);
        const start = present?.valueStart ?? commonStart(text, after);
        expect(after.startsWith(text.slice(0, start))).toBe(true);
        expect(after.endsWith(text.slice(present?.valueEnd ?? start))).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});

it('lines of keys: dotted, quoted, below tables and in lists of tables', () => {
  const places = scanToml(
    "a.b = 1\n\"c d\" = [\n 1,\n]\n[e]\nf = '''\n[x]\n'''\n[[e.g]]\nh = 1\n[[e.g]]\nh = 2\n[e.g.i]\nj = { k = 1 }\n",
  );
  const line = (...path: string[]) => lineOfKey(places, path);
  expect([line('a', 'b'), line('a'), line('c d'), line('e'), line('e', 'f')]).toEqual([1, 1, 2, 5, 6]);
  expect([line('e', 'g', '0', 'h'), line('e', 'g', '1', 'h'), line('e', 'g', '1', 'i', 'j', 'k')]).toEqual([
    10, 12, 14,
  ]);
  expect([line('e', 'new'), line('none')]).toEqual([5, null]);
});

describe('the file', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'ao-set-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));
  const places = () => ({ config: join(root, 'config'), project: join(root, 'project') });
  const lead = { path: ['lead'], value: 'x' };

  it('of the user is private, and keeps being a link where it is one', async () => {
    const file = await setSetting(places(), 'user', lead);
    expect(file).toBe(join(root, 'config/config.toml'));
    expect([statSync(file).mode & 0o777, statSync(join(root, 'config')).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    expect(readFileSync(file, 'utf8')).toBe('lead = "x"\n');
    const kept = join(root, 'dotfiles.toml');
    writeFileSync(kept, '# kept\n');
    rmSync(file);
    symlinkSync(kept, file);
    await setSetting(places(), 'user', lead);
    expect(readlinkSync(file)).toBe(kept);
    expect(readFileSync(kept, 'utf8')).toBe('# kept\nlead = "x"\n');
  });

  it('that is wrong already, or would be, stays as it was', async () => {
    const file = await setSetting(places(), 'user', lead);
    const bad: readonly [text: string, path: string[], value: SettingValue][] = [
      ['leed = "x"\n', ['lead'], 'y'],
      ['lead = \n', ['lead'], 'y'],
      ['lead = "x"\n', ['limits', 'max_workers'], 65],
      ['lead = "x"\n', ['ledd'], 'y'],
    ];
    for (const [text, path, value] of bad) {
      writeFileSync(file, text);
      await expect(setSetting(places(), 'user', { path, value })).rejects.toMatchObject({
        code: 'SETTINGS_INVALID',
      });
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
  });

  it('many at once lose nothing', async () => {
    const keys = SETTINGS.filter(({ fallback }) => typeof fallback === 'boolean').map(({ key }) => key);
    await Promise.all(keys.map((key) => setSetting(places(), 'user', { path: [key], value: true })));
    const text = readFileSync(join(root, 'config/config.toml'), 'utf8');
    expect(text.trim().split('\n').sort()).toEqual(keys.map((key) => `${key} = true`).sort());
  });

  it('of the project never leads out of it, and grants nothing', async () => {
    await expect(setSetting(places(), 'project', { path: ['bypass'], value: true })).rejects.toMatchObject({
      code: 'SETTINGS_INVALID',
    });
    const file = await setSetting(places(), 'project', lead);
    expect(file).toBe(join(root, 'project/.agentorchestr/config.toml'));
    expect(statSync(file).mode & 0o777).toBe(0o644);
    rmSync(file);
    const victim = join(root, 'victim');
    writeFileSync(victim, '');
    chmodSync(victim, 0o600);
    symlinkSync(victim, file);
    await expect(setSetting(places(), 'project', lead)).rejects.toMatchObject({ code: 'UNSAFE_DIRECTORY' });
    rmSync(join(root, 'project/.agentorchestr'), { recursive: true });
    mkdirSync(join(root, 'elsewhere'));
    symlinkSync(join(root, 'elsewhere'), join(root, 'project/.agentorchestr'));
    await expect(setSetting(places(), 'project', lead)).rejects.toMatchObject({ code: 'UNSAFE_DIRECTORY' });
    expect(readFileSync(victim, 'utf8')).toBe('');
  });
});
