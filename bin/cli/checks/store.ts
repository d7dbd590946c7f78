import path from 'node:path'
import { explain } from '../../../kit/explain.ts'
import { checkAgreement, examine, isLocked, repairFiles } from '../../../storage/level.ts'
import { type Check, failed, ok, warning } from './result.ts'
import { checkFigures } from './sums.ts'
import { checkTraces } from './traces.ts'

export interface Circumstances {
  /** A gateway has the folder. */
  readonly running: boolean
  /** Repairs the damage that can be repaired. */
  readonly repair: boolean
}

/** Whether the store in a data folder is there for this process, its files are whole, and what they hold agrees. */
export async function checkStore(dataDir: string, { running, repair }: Circumstances): Promise<Check[]> {
  const folder = path.join(dataDir, 'db')
  if (await isLocked(folder)) {
    const held = `${running ? 'The running gateway' : 'Another process'} has it open.`
    if (!running) return [failed('store', `${held} Stop it, or choose another data folder.`)]
    return [repair ? warning('store', `${held} Stop it to repair the store.`) : ok('store', held)]
  }
  try {
    const files = await checkFiles(folder, repair)
    if (files.status === 'failed') return [files]
    const counts = await checkCounts(folder, repair)
    const figures = await checkFigures(folder, repair)
    const traces = await checkTraces(dataDir, repair)
    return [ok('store', 'It opens, and no other process uses it.'), files, counts, figures, traces]
  } catch (error) {
    return [failed('store', explain(error))]
  }
}

/** Whether the files of the store are what was written. With `repair`, what cannot be read of them is given up. */
async function checkFiles(folder: string, repair: boolean): Promise<Check> {
  const damage = await examine(folder)
  if (damage.length === 0) return ok('files', 'All files of the store are intact.')
  const list = damage.map(({ file, found, lost }) => `${file}: ${found}; lost: ${lost}`).join('. ')
  if (!repair) {
    const how =
      '`switchyard doctor --repair` gives up the unreadable parts, and keeps a copy of the whole store.'
    return failed('files', `Damaged files, with what a repair loses: ${list}. ${how}`)
  }
  const copy = `${folder}-before-repair-${new Date().toISOString().replaceAll(':', '-')}`
  await repairFiles(folder, copy)
  return warning('files', `Repaired: ${list}. A copy of the store before the repair is in ${copy}.`)
}

/** Whether counts, indexes and ledgers are those of their rows. With `repair`, they are made so. */
async function checkCounts(folder: string, repair: boolean): Promise<Check> {
  const found = await checkAgreement(folder, { repair })
  const list = (some: typeof found): string => some.map(({ part, found }) => `${part}: ${found}`).join('. ')
  const [mendable, lost] = [found.filter((one) => one.canBeMended), found.filter((one) => !one.canBeMended)]
  const said = [
    mendable.length > 0 &&
      (repair
        ? `Corrected from the rows: ${list(mendable)}.`
        : `These disagree with the rows: ${list(mendable)}. The next start, or \`switchyard doctor --repair\`, corrects them.`),
    lost.length > 0 && `Cannot be corrected: ${list(lost)}.`,
  ].filter((text) => text !== false)
  return said.length === 0
    ? ok('counts', 'Counts, indexes and ledgers agree with the rows.')
    : warning('counts', said.join(' '))
}
