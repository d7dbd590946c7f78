import semver from 'semver'

export type Step = 'major' | 'minor'

const line = /^Contract (\S+)\. /m

/** The version that a report is of. */
export const versionOf = (report: string): string | undefined => line.exec(report)?.[1]

/** Whether two sets of reports promise the same, under whichever version. */
export function samePromise(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  const plain = (report = ''): string => report.replace(line, '')
  return [...new Set([...a.keys(), ...b.keys()])].every((name) => plain(a.get(name)) === plain(b.get(name)))
}

/**
 * The version that the contract must have: another than the last one's when it promises something else, at least by
 * `step`; the one it has when that is far enough already.
 */
export function versionFor(
  { last, now, changed }: { last: string | undefined; now: string; changed: boolean },
  step: Step,
): string {
  if (last === undefined || !changed) return now
  const wanted = semver.inc(last, step)
  return wanted && semver.lt(now, wanted) ? wanted : now
}
