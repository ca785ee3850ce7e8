import { posix } from 'node:path';
import ts from 'typescript';

export interface SourceText {
  /** From the top of the repository. */
  readonly path: string;
  readonly text: string;
}

/** `contract`: by the other's contract.ts alone. */
type Kind = 'contract' | 'inside';
type Arrows = Map<string, Map<string, Kind>>;

/** Folders of src with folders that count for themselves. */
const WITH_ROOMS = ['backends', 'services', 'doors'];

/** Top to bottom, as on the map. `main` is not drawn: it imports everything. */
const RINGS: readonly (readonly [title: string, folders: readonly string[]])[] = [
  ['doors', ['doors']],
  ['services', ['services']],
  ['rooms', ['backends', 'git', 'store', 'llm', 'discovery', 'scripted']],
  ['the machine, settings, agents', ['platform', 'config', 'agents']],
  ['words', ['core']],
];

/**
 * The imports between the folders of src as a mermaid graph, top to bottom: a solid arrow sees the inside, a dotted one
 * only the contract. Folders that import each other, or have all their arrows in common, are one box. Left out: `main`, and
 * each arrow that follows from others.
 */
export function importGraph(files: readonly SourceText[]): string {
  const arrows = withoutTwins(reduced(withoutCycles(importsOf(files))));
  const rings = RINGS.flatMap(([title, folders]) => [
    `  subgraph ${idOf(title)}["${title}"]`,
    ...[...arrows.keys()]
      .filter((name) => folders.includes(topOf(name)))
      .map((name) => `    ${idOf(name)}["${name.replaceAll(', ', '<br/>')}"]`),
    '  end',
  ]);
  const drawn = [...arrows].flatMap(([from, targets]) =>
    [...targets].map(([to, kind]) => `  ${idOf(from)} ${kind === 'inside' ? '-->' : '-.->'} ${idOf(to)}`),
  );
  return ['flowchart TB', ...rings, ...drawn].join('\n');
}

function importsOf(files: readonly SourceText[]): Arrows {
  const arrows: Arrows = new Map();
  for (const { path, text } of files) {
    const from = boxOf(path);
    if (from === 'main') continue;
    if (!RINGS.some(([, folders]) => folders.includes(topOf(from))))
      throw new Error(`${path}: the folder has no ring in scripts/docs/imports.ts`);
    const targets = arrows.get(from) ?? new Map<string, Kind>();
    arrows.set(from, targets);
    for (const { fileName } of ts.preProcessFile(text, true, true).importedFiles) {
      if (!fileName.startsWith('.')) continue;
      const imported = posix.join(posix.dirname(path), fileName);
      const to = boxOf(imported);
      if (to !== from) join(targets, to, imported.endsWith('/contract.js') ? 'contract' : 'inside');
    }
  }
  return sorted(arrows);
}

/** `src/git/merge.ts` → `git`; of a folder with rooms, the room, or its own files together. */
function boxOf(path: string): string {
  const [top = '', next = '', ...rest] = path.split('/').slice(1);
  if (!WITH_ROOMS.includes(top)) return top;
  if (rest.length > 0) return `${top}/${next}`;
  return next.startsWith('contract.') ? `${top}/contract.ts` : `${top}/*.ts`;
}

const topOf = (box: string): string => box.split('/')[0] ?? '';

function join(targets: Map<string, Kind>, to: string, kind: Kind): void {
  targets.set(to, targets.get(to) === 'inside' ? 'inside' : kind);
}

function withoutCycles(arrows: Arrows): Arrows {
  const reach = new Map([...arrows.keys()].map((box) => [box, reachedFrom(arrows, box, () => true)]));
  const isSame = (a: string, b: string) => reach.get(a)?.has(b) === true && reach.get(b)?.has(a) === true;
  return merged(arrows, isSame);
}

function withoutTwins(arrows: Arrows): Arrows {
  const toAndFrom = (box: string) => [
    topOf(box),
    ...(arrows.get(box) ?? []),
    ...[...arrows].map(([from, targets]) => (targets.has(box) ? [from, targets.get(box)] : '')),
  ];
  const looks = new Map([...arrows.keys()].map((box) => [box, JSON.stringify(toAndFrom(box))]));
  return merged(arrows, (a, b) => looks.get(a) === looks.get(b));
}

function merged(arrows: Arrows, isSame: (a: string, b: string) => boolean): Arrows {
  const boxes = [...arrows.keys()];
  const names = new Map(
    boxes.map((box) => [box, boxes.filter((other) => other === box || isSame(box, other)).join(', ')]),
  );
  const result: Arrows = new Map();
  for (const [from, targets] of arrows) {
    const name = names.get(from) ?? from;
    const into = result.get(name) ?? new Map<string, Kind>();
    result.set(name, into);
    for (const [to, kind] of targets) if (names.get(to) !== name) join(into, names.get(to) ?? to, kind);
  }
  return sorted(result);
}

/** Without what others say: a solid arrow goes where solid ones lead to the same, a dotted one where any do. */
function reduced(arrows: Arrows): Arrows {
  const follows = (from: string, to: string, kind: Kind) =>
    [...(arrows.get(from) ?? [])].some(
      ([over, first]) =>
        over !== to &&
        (kind === 'contract' || first === 'inside') &&
        reachedFrom(arrows, over, (step) => kind === 'contract' || step === 'inside').has(to),
    );
  return new Map(
    [...arrows].map(([from, targets]) => [
      from,
      new Map([...targets].filter(([to, kind]) => !follows(from, to, kind))),
    ]),
  );
}

function reachedFrom(arrows: Arrows, from: string, goes: (kind: Kind) => boolean): Set<string> {
  const reached = new Set<string>();
  const waiting = [from];
  for (let box = waiting.pop(); box !== undefined; box = waiting.pop())
    for (const [to, kind] of arrows.get(box) ?? [])
      if (goes(kind) && !reached.has(to)) {
        reached.add(to);
        waiting.push(to);
      }
  return reached;
}

function sorted(arrows: Arrows): Arrows {
  const byName = <T>(map: Map<string, T>) => [...map].sort(([a], [b]) => a.localeCompare(b, 'en'));
  return new Map(byName(arrows).map(([from, targets]) => [from, new Map(byName(targets))]));
}

/** Of the first in the box. */
const idOf = (name: string): string => name.replace(/,.*/, '').replaceAll(/\W+/g, '_');
