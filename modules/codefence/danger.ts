/** What code can do that an operator wants to know of. */
export const dangerKinds = [
  'deletion',
  'input_as_code',
  'remote_code',
  'remote_shell',
  'credentials',
  'exfiltration',
  'package',
  'privileges',
  'exhaustion',
  'unread',
] as const
export type DangerKind = (typeof dangerKinds)[number]

/** The least severe first. */
export const severities = ['low', 'medium', 'high'] as const
export type Severity = (typeof severities)[number]

/** A dangerous construct, by its place in the code. */
export interface Danger {
  readonly start: number
  readonly end: number
  readonly kind: DangerKind
  readonly severity: Severity
}

/** Searches code in one language. Offsets are those of the code. Never throws for broken code. */
export type Examiner = (code: string) => Danger[]

/** The dangers in order, without those that lie over an earlier one; of two that start together the more severe stays. */
export function inOrder(dangers: readonly Danger[]): Danger[] {
  const weight = ({ severity }: Danger): number => severities.indexOf(severity)
  const sorted = dangers.toSorted((a, b) => a.start - b.start || weight(b) - weight(a) || b.end - a.end)
  const kept: Danger[] = []
  for (const danger of sorted) {
    const last = kept.at(-1)
    if (!last || danger.start >= last.end) kept.push(danger)
    else if (weight(danger) > weight(last))
      kept[kept.length - 1] = { ...danger, start: last.start, end: Math.max(last.end, danger.end) }
    else if (danger.end > last.end) kept[kept.length - 1] = { ...last, end: danger.end }
  }
  return kept
}
