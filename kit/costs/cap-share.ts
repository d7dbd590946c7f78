import type { CapStanding } from '../../contract/spend.ts'

/** How much of a cap is spent or set apart: 1 when it is reached, and for one of nothing. */
export const capShare = ({ mostNano, spentNano, reservedNano }: CapStanding): number =>
  mostNano === 0 ? 1 : (spentNano + reservedNano) / mostNano
