import { playWith } from './suite.js';

playWith('scripted');
