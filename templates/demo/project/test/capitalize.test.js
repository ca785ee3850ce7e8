import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TOOLS } from '../src/tools.js';

test('capitalize raises the first letter and leaves the rest', () => {
  assert.equal(TOOLS.capitalize('hello World'), 'Hello World');
  assert.equal(TOOLS.capitalize(''), '');
});
