// A terminal program that plays an agent's screen and writes down every byte it is given.
//
//   node recorder.mjs CONFIG.json
//
// CONFIG names the folder for its files: keys.jsonl (every chunk of input: monotonic time in ms, bytes, where they went),
// submissions.jsonl (every submitted text), control (commands, one JSON object a line, appended by the test).
// The other settings are the persona; see `Persona` in rig.ts.
import {
  appendFileSync,
  closeSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const persona = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const PASTE_BEGIN = Buffer.from('\x1b[200~');
const PASTE_END = Buffer.from('\x1b[201~');
const MAX_ROWS = 6;
const file = (name) => join(persona.directory, name);
const append = (name, record) =>
  appendFileSync(file(name), `${JSON.stringify({ at: Number(process.hrtime.bigint()) / 1e6, ...record })}\n`);

const state = {
  phase: 'boot',
  composer: Buffer.alloc(0),
  pastes: 0,
  pasteMark: null,
  pasting: null,
  pending: Buffer.alloc(0),
  swallow: persona.swallow ?? 0,
  turns: 0,
  queued: [],
  dialog: null,
  undrawn: 0,
  regionRows: 0,
  frame: 0,
  vimInsert: true,
  suggestion: persona.suggestion ?? '',
};

if (persona.exitAtOnce !== undefined) {
  process.stdout.write(`${persona.exitAtOnce.says}\r\n`);
  process.exit(persona.exitAtOnce.status);
}
writeFileSync(file('control'), '', { flag: 'a' });
append('keys.jsonl', { where: 'start', bytes: '', pid: process.pid });
if (persona.raw !== false) process.stdin.setRawMode(true);
process.stdin.on('data', takeInput);
process.stdout.on('resize', draw);
followControl();
if ((persona.startDelayMs ?? 0) > 0) {
  process.stdout.write('Loading the model, please wait\r\n');
  setTimeout(start, persona.startDelayMs);
} else start();

function start() {
  state.phase = 'idle';
  if (persona.bracketed !== false) process.stdout.write('\x1b[?2004h');
  if (persona.alternate === true) process.stdout.write('\x1b[?1049h\x1b[H');
  if (persona.dialogAtStart !== undefined) openDialog(persona.dialogAtStart);
  if (persona.animate === true) setInterval(draw, 80);
  draw();
}

// --- input -----------------------------------------------------------------------------------------------------------

function takeInput(chunk) {
  const where = state.dialog !== null ? 'dialog' : state.phase;
  append('keys.jsonl', { where, bytes: chunk.toString('base64') });
  if (persona.raw === false) return takeCookedLines(chunk);
  if (state.phase === 'boot' || persona.ignoreInput === true) return;
  if (state.dialog !== null) return answerDialog(chunk);
  let input = state.pending.length === 0 ? chunk : Buffer.concat([state.pending, chunk]);
  state.pending = Buffer.alloc(0);
  while (input.length > 0) input = takeOne(input);
  draw();
}

/** Consumes one key, or a piece of a paste; returns the rest. */
function takeOne(input) {
  if (state.pasting !== null) return takePaste(input);
  if (input.subarray(0, PASTE_BEGIN.length).equals(PASTE_BEGIN)) {
    state.pasting = [];
    return input.subarray(PASTE_BEGIN.length);
  }
  const isStart = input.length < PASTE_BEGIN.length && PASTE_BEGIN.subarray(0, input.length).equals(input);
  if (isStart && input.length > 1) {
    state.pending = input;
    return Buffer.alloc(0);
  }
  const byte = input[0];
  if (byte === 0x1b) {
    const sequence = /^\x1b(\[[0-9;?]*[@-~]|O.)?/.exec(input.toString('latin1'))[0];
    if (sequence.length === 1) append('keys.jsonl', { where: 'escape', bytes: '' });
    if (sequence.length === 1 && persona.vim === true) state.vimInsert = false;
    return input.subarray(sequence.length);
  }
  if (byte === 0x0d || (byte === 0x0a && persona.bracketed === false)) pressEnter();
  else if (byte === 0x7f) state.composer = state.composer.subarray(0, -1);
  else if (byte === 0x15) clearComposer();
  else if (byte !== 0x03) type(input.subarray(0, 1));
  return input.subarray(1);
}

function takePaste(input) {
  // The end mark may be cut between two chunks.
  const all =
    state.pasting.length === 0 ? input : Buffer.concat([...state.pasting.splice(0, Infinity), input]);
  const end = all.indexOf(PASTE_END);
  if (end === -1) {
    state.pasting.push(all);
    return Buffer.alloc(0);
  }
  state.pasting = null;
  const text = all.subarray(0, end);
  state.pastes++;
  const lines = text.toString('utf8').split('\n').length;
  if (persona.collapse === true && (text.length > 800 || lines > 3))
    state.pasteMark = `[Pasted text #${state.pastes} +${lines} lines]`;
  type(text);
  return all.subarray(end + PASTE_END.length);
}

function type(bytes) {
  if (persona.vim === true && !state.vimInsert) return;
  state.composer = Buffer.concat([state.composer, bytes]);
}

function clearComposer() {
  state.composer = Buffer.alloc(0);
  state.pasteMark = null;
}

function pressEnter() {
  if (state.swallow > 0) return void state.swallow--;
  if (persona.enterWhileDrawing === 'swallowed' && state.undrawn > 0) return;
  if (state.composer.length === 0) return;
  const text = state.composer;
  clearComposer();
  append('submissions.jsonl', { text: text.toString('base64'), whileWorking: state.phase === 'working' });
  if (persona.submitIsSilent === true) return;
  if (state.phase === 'working') state.queued.push(text);
  else beginTurn(text);
}

function beginTurn(text) {
  state.turns++;
  const shown = text.toString('utf8').slice(0, persona.transcriptChars ?? 400);
  print(shown.split('\n').map((line, index) => `${index === 0 ? '> ' : '  '}${line}`));
  const ms = persona.workMs ?? 50;
  if (ms === 0) return endTurn();
  state.phase = 'working';
  const ticks = setInterval(draw, 80);
  setTimeout(() => {
    clearInterval(ticks);
    endTurn();
    draw();
  }, ms);
}

function endTurn() {
  state.phase = 'idle';
  if (persona.answer !== undefined) print([`● ${persona.answer}`]);
  else print([`● answer ${state.turns}`]);
  const next = state.queued.shift();
  if (next !== undefined) beginTurn(next);
}

function answerDialog(chunk) {
  if (state.dialog.options !== undefined) return chooseInDialog(chunk);
  if (persona.dialogAnswers !== true || !chunk.includes(0x0d)) return;
  state.dialog = null;
  draw();
}

/** A dialog as agents draw them: a digit chooses at once, or arrows move the mark and Enter takes what is marked. */
function chooseInDialog(chunk) {
  const dialog = state.dialog;
  if (Date.now() - dialog.since < (dialog.deafMs ?? 0)) return;
  if ((dialog.drops ?? 0) > 0) return void dialog.drops--;
  const key = chunk.toString('latin1');
  const last = dialog.options.length - 1;
  if (key === '\x1b[A' || key === '\x1bOA') dialog.at = Math.max(0, dialog.at - 1);
  else if (key === '\x1b[B' || key === '\x1bOB') dialog.at = Math.min(last, dialog.at + 1);
  else if (key === '\r') return takeChoice(dialog.at);
  else if (dialog.by === 'digit' && /^[1-9]$/.test(key) && Number(key) <= last + 1)
    return takeChoice(Number(key) - 1);
  else return;
  draw();
}

function takeChoice(index) {
  const { options, next, takesMs } = state.dialog;
  append('answers.jsonl', { label: options[index] });
  const close = () => {
    openDialog(next ?? null);
    draw();
  };
  // It has taken the key, and shows nothing of that yet.
  if (takesMs > 0) setTimeout(close, takesMs);
  else close();
}

function openDialog(dialog) {
  state.dialog = dialog === null ? null : { at: 0, ...dialog, since: Date.now() };
}

function takeCookedLines(chunk) {
  for (const line of chunk.toString('latin1').split('\n').slice(0, -1)) {
    append('submissions.jsonl', {
      text: Buffer.from(line, 'latin1').toString('base64'),
      whileWorking: false,
    });
  }
}

// --- commands of the test --------------------------------------------------------------------------------------------

function followControl() {
  let offset = 0;
  const read = () => {
    const size = statSync(file('control')).size;
    if (size <= offset) return;
    const buffer = Buffer.alloc(size - offset);
    const handle = openSync(file('control'), 'r');
    readSync(handle, buffer, 0, buffer.length, offset);
    closeSync(handle);
    const end = buffer.lastIndexOf(0x0a) + 1;
    offset += end;
    for (const line of buffer.toString('utf8', 0, end).split('\n')) if (line !== '') obey(JSON.parse(line));
  };
  watch(persona.directory, (_kind, name) => name === 'control' && read());
  read();
}

function obey(command) {
  if (command.do === 'print') print(command.text.split('\n'));
  if (command.do === 'write') process.stdout.write(command.text);
  if (command.do === 'dialog') openDialog(command);
  if (command.do === 'closeDialog') state.dialog = null;
  if (command.do === 'swallow') state.swallow = command.count;
  if (command.do === 'suggest') state.suggestion = command.text;
  if (command.do === 'phase') state.phase = command.phase;
  if (command.do === 'exit') process.exit(command.status);
  draw();
}

// --- screen ----------------------------------------------------------------------------------------------------------

/** Lines that go above the input box and scroll away. */
function print(lines) {
  show(lines.map((line) => `${line}\r\n`).join(''));
}

function draw() {
  if (persona.raw === false) return drawOnce();
  if (state.phase !== 'boot') show('');
}

/** One frame: the old box is wiped, `above` scrolls up, the box is drawn again. Echo is late by `echoDelayMs`. */
function show(above) {
  state.frame++;
  const wipe = state.regionRows === 0 ? '\r\x1b[J' : `\x1b[${state.regionRows - 1}A\r\x1b[J`;
  const rows = state.dialog === null ? box() : dialog();
  state.regionRows = rows.length;
  const frame = `${wipe}${above}${rows.join('\r\n')}`;
  const delay = persona.echoDelayMs ?? 0;
  if (delay === 0) return void process.stdout.write(frame);
  state.undrawn++;
  setTimeout(() => {
    state.undrawn--;
    process.stdout.write(frame);
  }, delay);
}

function box() {
  const width = process.stdout.columns ?? 80;
  const rule = '─'.repeat(width - 1);
  const working = state.phase === 'working' || persona.alwaysWorking === true;
  const glyph = '✶✸✹✺'[state.frame % 4];
  const mode = persona.vim === true ? (state.vimInsert ? '-- INSERT -- ' : '-- NORMAL -- ') : '';
  return [
    ...(working
      ? [`${glyph} Working… (${state.frame}s · esc to interrupt)`]
      : persona.animate === true
        ? [`${glyph} tip ${state.frame}`]
        : []),
    rule,
    ...composerRows(width - 3),
    rule,
    working
      ? `  ${mode}working · esc to interrupt`
      : state.phase === 'odd'
        ? '  something else entirely'
        : `  ${mode}ready · ? for shortcuts`,
  ];
}

function composerRows(width) {
  if (state.pasteMark !== null) return [`> ${state.pasteMark}`];
  const text = state.composer.toString('utf8');
  if (text === '' && state.suggestion !== '') return [suggestion()];
  const rows = text.split('\n').flatMap((line) => wrap(line.replaceAll('\t', '    '), width));
  return rows.slice(-MAX_ROWS).map((row, index) => `${index === 0 ? '> ' : '  '}${row}`);
}

/** The first letter stands under the cursor, drawn reversed and not dim, as real composers do. */
function suggestion() {
  return `> \x1b[7m${state.suggestion[0]}\x1b[27m\x1b[2m${state.suggestion.slice(1)}\x1b[22m`;
}

function wrap(line, width) {
  const characters = [...line];
  const rows = [];
  for (let from = 0; from === 0 || from < characters.length; from += width)
    rows.push(characters.slice(from, from + width).join(''));
  return rows;
}

function dialog() {
  const above = persona.dialogBelowComposer === true ? box().slice(0, -1) : [];
  if (state.dialog.options !== undefined) return [...above, ...optionRows()];
  return [...above, `${state.dialog.says}`, '❯ 1. Yes', '  2. No', `  ${state.dialog.kind} · enter confirms`];
}

function optionRows() {
  const { kind, says, options, by, at } = state.dialog;
  const clock = persona.animate === true ? [`${'✶✸✹✺'[state.frame % 4]} Waiting… (${state.frame}s)`] : [];
  return [
    '─'.repeat(40),
    ...says.split('\n'),
    ...clock,
    ...options.map(
      (label, index) => `${index === at ? '❯' : ' '} ${by === 'digit' ? `${index + 1}. ` : ''}${label}`,
    ),
    `  ${kind} · ${by === 'digit' ? 'a digit chooses' : 'arrows and enter'}`,
  ];
}

/** A line-mode program: the terminal itself echoes what is typed. */
function drawOnce() {
  if (state.drawn) return;
  state.drawn = true;
  process.stdout.write('────────\r\n> \r\n────────\r\n  ready · ? for shortcuts\x1b[2A\r\x1b[2C');
}
