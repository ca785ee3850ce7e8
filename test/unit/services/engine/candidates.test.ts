import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReportedOutcome } from '../../../../src/core/state/rows.js';
import { EVIDENCE, evidenceRank, type Evidence } from '../../../../src/core/state/states.js';
import { bestCandidate, endingOfCandidate } from '../../../../src/services/engine/outcomes.js';

const said = (evidence: Evidence, summary = ''): ReportedOutcome => ({
  state: 'succeeded',
  summary,
  evidence,
  at: '2026-01-01T00:00:00.000Z',
});

const candidates = fc.array(
  fc
    .record({ evidence: fc.constantFrom(...EVIDENCE), summary: fc.string() })
    .map(({ evidence, summary }) => said(evidence, summary)),
  { maxLength: 12 },
);

describe('the best candidate', () => {
  it('is none where nothing was reported', () => {
    expect(bestCandidate([])).toBeNull();
  });

  it('is the strongest, however early', () => {
    expect(bestCandidate([said('protocol', 'a'), said('flag', 'b'), said('screen', 'c')])?.summary).toBe('a');
  });

  it('is the latest of equally strong ones', () => {
    expect(bestCandidate([said('flag', 'a'), said('sentinel', 'b'), said('flag', 'c')])?.summary).toBe('c');
  });

  it('has nothing stronger anywhere, and nothing as strong after it', () => {
    fc.assert(
      fc.property(candidates, (reported) => {
        const best = bestCandidate(reported);
        const stronger = reported.filter(
          ({ evidence }) => best === null || evidenceRank(evidence) < evidenceRank(best.evidence),
        );
        const later = best === null ? [] : reported.slice(reported.lastIndexOf(best) + 1);
        expect(stronger).toEqual([]);
        expect(later.filter(({ evidence }) => evidence === best?.evidence)).toEqual([]);
      }),
    );
  });

  it('stays the same when weaker ones come', () => {
    fc.assert(
      fc.property(candidates, candidates, (reported, more) => {
        const best = bestCandidate(reported);
        fc.pre(best !== null);
        const weaker = more.filter(({ evidence }) => evidenceRank(evidence) > evidenceRank(best.evidence));
        expect(bestCandidate([...reported, ...weaker])).toBe(best);
      }),
    );
  });
});

describe('the ending of a candidate', () => {
  it.each([
    ['succeeded', { type: 'run.succeeded', summary: 's', evidence: 'flag' }],
    ['blocked', { type: 'run.blocked', summary: 's', evidence: 'flag' }],
    ['failed', { type: 'run.failed', summary: 's', evidence: 'flag', failureCode: 'REPORTED' }],
  ] as const)('of %s carries its summary and evidence', (state, ending) => {
    expect(endingOfCandidate({ ...said('flag', 's'), state })).toEqual(ending);
  });
});
