/** An invalid field: its path as a client would write it (`payments[2].amount`) and the problem. */
export interface Issue {
  readonly path: string;
  readonly problem: string;
}
