import { token } from '../kernel/token.ts'

/** The usage and the costs of a user. */
export interface UsedSums {
  readonly tokensIn: number
  readonly tokensOut: number
  /** Nano-dollars. */
  readonly costNano: number
}

/** The sums by user and month that usage is shown by. */
export interface UsageRecords {
  /**
   * Raises the sums of a month (`2026-11`, UTC) that are less than these, by user, and returns for how many users some were.
   * Skips users that no longer exist.
   */
  raise(period: string, sums: ReadonlyMap<string, UsedSums>): Promise<number>
}

/** Called after an unclean end by the plugin that keeps single calls. */
export const UsageRecords = token<UsageRecords>('usage-records')
