import { playWith } from './suite.js';

playWith('codex');
