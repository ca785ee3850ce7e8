import { playWith } from './suite.js';

playWith('claude');
