export { table, tableWithin } from '../../data-plane-agent/base/command-line/table.js';
