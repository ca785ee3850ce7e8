import { describe, expect, it } from 'vitest';
import { OrchestratorError } from '../../../../src/core/errors/error.js';
import type { Check, DoctorDeps } from '../../../../src/services/doctor/deps.js';
import { diagnose } from '../../../../src/services/doctor/diagnose.js';
import { atMost, failed, ok, warning, type CheckRow } from '../../../../src/services/doctor/row.js';
import { createFakeClock } from '../../../support/fake-clock.js';

const clock = createFakeClock();
const deps = { clock } as unknown as DoctorDeps;
const check = (name: string, run: Check['run'], area: Check['area'] = 'programs'): Check => ({
  name,
  area,
  run,
});
const rows =
  (...found: CheckRow[]) =>
  () =>
    Promise.resolve(found);

describe('a diagnosis', () => {
  it('runs all checks at once, in areas, and says unknown of one that hangs, which is told to stop', async () => {
    let told = false;
    const hangs = check('slow', (_deps, signal) => {
      signal.addEventListener('abort', () => (told = true));
      return new Promise(() => undefined);
    });
    const running = diagnose(deps, [
      check('last', rows(ok({ name: 'last' }, 'here')), 'sessions'),
      hangs,
      check('first', rows(ok({ name: 'first' }, 'here'))),
    ]);
    await clock.advance(9_000);
    const { healthy, areas } = await running;
    expect(
      areas.map(({ area, rows: found }) => [area, found.map(({ name, state }) => [name, state])]),
    ).toEqual([
      [
        'programs',
        [
          ['slow', 'unknown'],
          ['first', 'ok'],
        ],
      ],
      ['sessions', [['last', 'ok']]],
    ]);
    expect(areas[0]?.rows[0]).toMatchObject({
      found: 'no answer within 9 s',
      fix: { advice: 'find out what hangs, then look again' },
    });
    expect({ healthy, told }).toEqual({ healthy: true, told: true });
  });

  it('says unknown of a check that breaks, with the reason', async () => {
    const { healthy, areas } = await diagnose(deps, [
      check('broken', () => Promise.reject(new Error('no such luck'))),
      check('late', () =>
        Promise.reject(new OrchestratorError('TIMED_OUT', { what: 'it', limit_ms: 5, hint: 'wait' })),
      ),
    ]);
    expect(areas[0]?.rows).toMatchObject([
      { name: 'broken', state: 'unknown', found: expect.stringContaining('no such luck') as string },
      { name: 'late', state: 'unknown', fix: { advice: 'wait' } },
    ]);
    expect(healthy).toBe(true);
  });

  it('is healthy with warnings, and not with one failure', async () => {
    const fix = { advice: 'mend it' };
    const warned = check('a', rows(warning({ name: 'a' }, 'hm', fix)));
    expect((await diagnose(deps, [warned])).healthy).toBe(true);
    expect((await diagnose(deps, [warned, check('b', rows(failed({ name: 'b' }, 'no', fix)))])).healthy).toBe(
      false,
    );
  });
});

describe('rows of a kind', () => {
  it('are counted where they are many', () => {
    const many = Array.from({ length: 30 }, (_, index) =>
      warning({ name: 'x' }, `${index}`, { command: 'c' }),
    );
    const shown = atMost(many, 'x');
    expect(shown).toHaveLength(9);
    expect(shown.at(-1)?.found).toBe('and 22 more like these');
    expect(atMost(many.slice(0, 9), 'x')).toHaveLength(9);
  });
});
