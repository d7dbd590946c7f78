import { checkSums } from '../../../storage/level.ts'
import { type Check, ok, warning } from './result.ts'

/**
 * Whether every figure that is summed up in the store can be read. With `repair`, those that cannot begin anew. The folder is
 * that of a store which no process has open.
 */
export async function checkFigures(folder: string, repair: boolean): Promise<Check> {
  const odd = await checkSums(folder, { repair })
  if (odd.length === 0) return ok('figures', 'All sums can be read.')
  const places = odd.map(({ part, sums }) => `${sums} of ${part}`).join(', ')
  return repair
    ? ok('figures', `Sums that were no numbers are taken out and begin anew: ${places}.`)
    : warning(
        'figures',
        `Sums that are no numbers, and missing from what is shown: ${places}. \`switchyard doctor --repair\` lets them begin anew; what they had counted is lost.`,
      )
}
