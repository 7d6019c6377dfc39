export { CommandError, EXIT, misuse } from '../data-plane-agent/base/command-line/errors.js';
