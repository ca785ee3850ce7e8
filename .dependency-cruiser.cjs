// The import rules of ARCHITECTURE.md, one rule per sentence. `test/architecture/boundaries.test.ts` plants a
// violation of each and checks that it is reported.

/** Folders that each drive one outside thing. Only their contract.ts is visible outside. */
const ROOMS = '^src/(backends/[^/]+(?=/)|git|store|queue|skills|memory|llm|discovery|telemetry|scripted)/';
const CONTRACT =
  '^src/(backends|backends/tmux|git|store|queue|skills|memory|llm|discovery|telemetry|agents)/contract[.]ts$';

/** package → the only place in src that may import it. zod may be used everywhere. */
const HOMES = {
  execa: '^src/platform/process[.]ts$',
  pino: '^src/platform/logger[.]ts$',
  'proper-lockfile': '^src/platform/locks[.]ts$',
  uuid: '^src/platform/',
  'smol-toml': '^src/config/',
  yaml: '^src/(scripted|config)/',
  'better-sqlite3': '^src/store/',
  '@modelcontextprotocol/sdk': '^src/(doors/mcp|scripted)/',
  fastify: '^src/doors/http/',
  '@fastify/swagger': '^src/doors/http/',
  '@fastify/swagger-ui': '^src/doors/http/',
  '@fastify/websocket': '^src/doors/http/',
  yargs: '^src/doors/cli/',
};

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });
const npm = (name) => `(^|/)node_modules/(@types/)?${name}/`;
const src = (folders) => `^src/(${folders})(/|$)`;

const PATHS_ONLY = '^(node:)?(path|url)$';

const rings = [
  rule(
    'core-imports-core-only',
    'core is the words: nothing of ours lies below it',
    { path: src('core') },
    { path: '^src/', pathNot: src('core') },
  ),
  rule(
    'platform-imports-core-only',
    'ring 1 sees ring 0',
    { path: src('platform') },
    { path: '^src/', pathNot: src('core|platform') },
  ),
  rule(
    'config-imports-core-and-platform-only',
    'ring 1 sees ring 0 and its neighbour',
    { path: src('config') },
    { path: '^src/', pathNot: src('core|platform|config') },
  ),
  rule(
    'agents-import-core-only',
    'agents are data',
    { path: src('agents') },
    { path: '^src/', pathNot: src('core|agents') },
  ),
  rule(
    'room-imports-downwards',
    'a room sees core, platform, config, contracts, and itself',
    { path: ROOMS },
    { path: '^src/', pathNot: [src('core|platform|config'), CONTRACT, '^src/$1/'] },
  ),
  rule(
    'contract-imports-downwards',
    'a contract is types over core, other contracts, and the part of it that has a file of its own',
    { path: CONTRACT.replace('/contract', '/(salvage-)?contract') },
    { path: '^src/', pathNot: [src('core'), CONTRACT, '^src/$1/salvage-contract[.]ts$'] },
  ),
  rule(
    'services-see-contracts-only',
    'use cases see core, platform, config, contracts and the agent registry; never the inside of a room',
    { path: src('services') },
    {
      path: '^src/',
      pathNot: [src('core|platform|config|services'), CONTRACT, '^src/agents/registry[.]ts$'],
    },
  ),
  rule(
    'door-imports-downwards',
    'a door translates: it sees services, platform, config, core, doors/shared; never a room or another door',
    { path: '^src/doors/([^/]+)/' },
    { path: '^src/', pathNot: [src('core|platform|config|services'), '^src/doors/($1|shared)/'] },
  ),
  rule(
    'main-is-on-top',
    'only main imports main',
    { path: '^src/', pathNot: src('main') },
    { path: src('main') },
  ),
  rule(
    'every-folder-has-a-ring',
    'a new folder needs a sentence in ARCHITECTURE.md and a rule here',
    {
      path: '^src/',
      pathNot: [src('core|platform|config|agents|services|main'), ROOMS, CONTRACT, '^src/doors/[^/]+/'],
    },
    {},
  ),
];

const purity = [
  rule(
    'core-has-no-io',
    'core may not reach the machine',
    { path: src('core') },
    { dependencyTypes: ['core'] },
  ),
  rule(
    'agents-have-no-io',
    'agents are data; computing with paths is no I/O',
    { path: src('agents') },
    { dependencyTypes: ['core'], pathNot: PATHS_ONLY },
  ),
  rule(
    'services-have-no-io',
    'I/O belongs to rooms and platform; computing with paths is none',
    { path: src('services') },
    { dependencyTypes: ['core'], pathNot: PATHS_ONLY },
  ),
  rule(
    'pure-rings-import-zod-only',
    'core, agents and services use no package but zod',
    { path: src('core|agents|services') },
    { path: npm('[^/]+'), pathNot: npm('zod') },
  ),
];

const packages = [
  ...Object.entries(HOMES).map(([name, home]) =>
    rule(
      `one-home-for-${name.replace(/[@/]/g, '-').replace(/^-/, '')}`,
      `${name} is used in ${home} only`,
      { path: '^src/', pathNot: home },
      { path: npm(name) },
    ),
  ),
  rule(
    'package-without-a-home',
    'a new package needs one home: add it to HOMES',
    { path: '^src/' },
    { path: npm('[^/]+'), pathNot: ['zod', ...Object.keys(HOMES)].map(npm) },
  ),
  rule('not-resolvable', 'the import leads nowhere', {}, { couldNotResolve: true }),
  rule('no-cycles', 'type-only legs count too', {}, { circular: true }),
];

module.exports = {
  forbidden: [...rings, ...purity, ...packages],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
