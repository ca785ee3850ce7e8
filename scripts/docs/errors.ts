import { CATALOG, type CatalogEntry, type ErrorParams } from '../../src/core/errors/catalog.js';
import { CATEGORIES, EXIT, type Category } from '../../src/core/errors/categories.js';
import { code, GENERATED, page, table, yesNo } from './markdown.js';

const EXIT_MEANING: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'the goal is done, the run succeeded',
  operation: 'an operation or a precondition failed',
  endedOtherwise: 'the work ended otherwise: failed, blocked, cancelled, timed out, paused',
  fieldAbsent: 'the field asked for is absent',
  goesOn: 'it goes on without you: the wait timed out, or you detached',
  usage: 'the command line is wrong',
  interrupted: 'interrupted before anything began',
};

const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  ...Object.entries(EXIT).map(([name, code]) => [code, EXIT_MEANING[name as keyof typeof EXIT]] as const),
  [CATEGORIES.unavailable.exit, 'nobody answers: a daemon, a supervisor or the database'],
  [
    CATEGORIES.denied.exit,
    'not allowed: no valid token, or a folder, an origin or a right that is not given',
  ],
];

export function errorsPage(): string {
  const entries = Object.entries(CATALOG) as [string, CatalogEntry][];
  return page(
    '# Errors',
    GENERATED,
    'Every failure that a user or an agent can cause or fix has a code. The command line prints `error:` and `hint:` on standard error; `--json` prints the object; REST answers `application/problem+json`; a tool call answers a result with `isError`. In the texts below `<name>` stands for a value.',
    '## Categories',
    table(
      ['category', 'exit code', 'HTTP status', 'retry helps', 'OpenAI type'],
      Object.entries(CATEGORIES).map(([name, row]) => [
        name,
        String(row.exit),
        String(row.http),
        yesNo(row.retryable),
        code(row.openai),
      ]),
    ),
    '## Exit codes',
    table(
      ['exit code', 'meaning'],
      EXIT_CODES.toSorted(([a], [b]) => a - b).map(([code, meaning]) => [String(code), meaning]),
    ),
    '## Codes',
    ...(Object.keys(CATEGORIES) as Category[]).flatMap((category) =>
      entries.filter(([, entry]) => entry.category === category).flatMap(section),
    ),
  );
}

function section([name, entry]: readonly [string, CatalogEntry]): string[] {
  const hint = entry.hint?.(placeholders(['hint']));
  const status = entry.http ?? CATEGORIES[entry.category].http;
  return [
    `### ${name}`,
    [
      `- category: ${entry.category}, exit code ${CATEGORIES[entry.category].exit}, HTTP ${status}`,
      `- message: ${code(entry.message(placeholders([])))}`,
      ...(hint === undefined ? [] : [`- hint: ${code(hint)}`]),
    ].join('\n'),
  ];
}

/** Parameters that all have the value `<their name>`, but for those in `absent`. */
function placeholders(absent: readonly string[]): ErrorParams {
  return new Proxy<ErrorParams>(
    {},
    { get: (_, name) => (absent.includes(String(name)) ? undefined : `<${String(name)}>`) },
  );
}
