import { createContract } from './contracts/create-contract.js';
import { getContract } from './contracts/get-contract.js';

/** The whole interface of the data plane. Adding an operation is adding a line here. */
export const OPERATIONS = {
  createContract,
  getContract,
} as const;

export type Operations = typeof OPERATIONS;
export const OPERATION_NAMES = Object.keys(OPERATIONS) as (keyof Operations)[];
