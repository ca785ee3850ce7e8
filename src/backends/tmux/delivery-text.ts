export interface DeliveryText {
  readonly text: string;
  readonly bytes: number;
  readonly multiLine: boolean;
}

/**
 * What may be typed into a terminal: every line end becomes LF; C0, DEL and C1 except TAB and LF are dropped (an ESC
 * would end the paste early and let the rest act as keys). Line ends at the very end are dropped too: they say nothing
 * to the agent, and inside a paste they make some composers swallow the submit key.
 */
export function deliveryText(raw: string): DeliveryText {
  const text = raw
    .replace(/\r\n?/g, '\n')
    // eslint-disable-next-line no-control-regex -- control bytes are what this is about
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
    .replace(/\n+$/, '');
  return { text, bytes: Buffer.byteLength(text), multiLine: text.includes('\n') };
}
