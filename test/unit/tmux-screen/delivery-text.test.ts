import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deliveryText } from '../../../src/backends/tmux/delivery-text.js';
import { arrivesAs, TORTURE_TEXTS } from '../../support/torture-texts.js';

describe('the text that is typed', () => {
  it.each(TORTURE_TEXTS)('$name', (entry) => {
    const text = arrivesAs(entry);
    expect(deliveryText(entry.text)).toEqual({
      text,
      bytes: Buffer.byteLength(text),
      multiLine: text.includes('\n'),
    });
  });

  it('never holds a control byte but TAB and LF, and cleaning it again changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (raw) => {
        const { text } = deliveryText(raw);
        // eslint-disable-next-line no-control-regex -- control bytes are what this is about
        expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
        expect(deliveryText(text).text).toBe(text);
      }),
    );
  });
});
