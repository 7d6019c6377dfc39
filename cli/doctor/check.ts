export { check, reasonOf, type Check } from '../../data-plane-agent/base/command-line/check.js';
