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
    ? ok('figures', `Sums that were not numbers are reset: ${places}.`)
    : warning(
        'figures',
        `Some sums are not numbers and are left out of the figures: ${places}. \`switchyard doctor --repair\` resets them; their counts are lost.`,
      )
}
