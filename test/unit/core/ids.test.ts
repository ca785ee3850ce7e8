import { describe, expect, it } from 'vitest';
import {
  formatWorkerId,
  LEAD_ID,
  sessionIdSchema,
  workerIdSchema,
  workerNumber,
} from '../../../src/core/ids.js';

describe('a session id', () => {
  it.each(['00000000', '3f2a91bc', 'ffffffff'])('is eight lower-case hex characters: %s', (id) => {
    expect(sessionIdSchema.safeParse(id).success).toBe(true);
  });

  it.each(['', '3f2a91b', '3f2a91bcd', '3F2A91BC', '3f2a91bg', ' 3f2a91bc', '3f2a91bc\n', '../../etc'])(
    'is not: %j',
    (id) => {
      expect(sessionIdSchema.safeParse(id).success).toBe(false);
    },
  );
});

describe('a worker id', () => {
  it.each([
    [1, 'w01'],
    [9, 'w09'],
    [10, 'w10'],
    [99, 'w99'],
    [100, 'w100'],
    [1234, 'w1234'],
  ])('of number %i is %s, and back', (number, id) => {
    expect(formatWorkerId(number)).toBe(id);
    expect(workerNumber(id)).toBe(number);
    expect(workerIdSchema.safeParse(id).success).toBe(true);
  });

  it('of the lead has number 0', () => {
    expect(workerNumber(LEAD_ID)).toBe(0);
    expect(workerIdSchema.safeParse(LEAD_ID).success).toBe(true);
  });

  it.each(['', 'w1', 'W01', 'w01 ', 'w01\n', 'leader', 'w-1', 'x01', 'w01/../w02'])('is not: %j', (id) => {
    expect(workerIdSchema.safeParse(id).success).toBe(false);
  });
});
