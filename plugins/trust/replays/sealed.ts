import type { BodySeals } from '#kit'
import type { ReplayRow } from './row.ts'

/**
 * What changes in the row of a replay as it is stored. Differences have the names of fields and the numbers of answers that are
 * JSON, so they are sealed where the bodies of the repeated call are.
 */
export async function sealedChanges(
  { differences, ...changes }: Partial<ReplayRow>,
  seals: BodySeals,
  asker: Parameters<BodySeals['sealFor']>[0],
): Promise<Partial<ReplayRow>> {
  if (differences === undefined) return changes
  const seal = await seals.sealFor(asker)
  return { ...changes, ...(seal ? { sealed: seal(JSON.stringify(differences)) } : { differences }) }
}

/** The same with its differences; without them where they cannot be opened any more. */
export async function openedRow({ sealed, ...row }: ReplayRow, seals: BodySeals): Promise<ReplayRow> {
  const text = sealed === undefined ? undefined : await seals.tryOpen(sealed)
  return text === undefined ? row : { ...row, differences: JSON.parse(text) }
}
