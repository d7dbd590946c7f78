import type { FileDamage } from '../../index.ts'
import type { DamagedFile } from './examine.ts'
import type { Gap } from './records.ts'
import type { BadBlock } from './table.ts'

/** What is wrong with a file, for people: what was found, and what is lost when it is repaired. */
export function describe(damaged: DamagedFile): FileDamage {
  const { file, kind } = damaged
  if (kind === 'table') return { file, ...tableDamage(damaged.blocks) }
  const bytes = damaged.gaps.reduce((sum, { from, to }) => sum + to - from, 0)
  const at = damaged.gaps.map(({ from }) => from).join(', ')
  const found = `${bytes} bytes cannot be read (at ${at})`
  if (kind === 'directory')
    return { file, found, lost: 'nothing, if the tables are whole: the directory is made again from them' }
  return { file, found, lost: lostRecords(damaged.gaps) }
}

const lostRecords = (gaps: readonly Gap[]): string =>
  gaps.some(({ isInside }) => isInside)
    ? `acknowledged changes that lay there, ${gaps.length === 1 ? 'one batch' : `${gaps.length} batches`} or more; those behind them are kept`
    : 'changes of the last moments, as after a power cut'

function tableDamage(blocks: readonly BadBlock[] | 'all'): Pick<FileDamage, 'found' | 'lost'> {
  if (blocks === 'all') return { found: 'it is not a readable table', lost: 'all its content' }
  const found = `${blocks.length} of its blocks cannot be read`
  const parts = new Set(blocks.flatMap(({ keys }) => (keys ? partsOf(keys) : [])))
  return { found, lost: parts.size === 0 ? 'nothing' : `rows in these blocks, of ${[...parts].join(', ')}` }
}

const kinds: Readonly<Record<string, string>> = {
  c: 'collection',
  l: 'log',
  s: 'sequence',
  n: 'counters',
}

/** The parts at both ends of a range of keys, and a word for those between. */
function partsOf([after, last]: readonly [string, string]): string[] {
  const [first, second] = [partOf(after), partOf(last)]
  if (first === second || first === undefined) return second === undefined ? [] : [second]
  return second === undefined ? [first] : [first, 'perhaps parts between', second]
}

function partOf(key: string): string | undefined {
  const found = /^([clsn])\/([^!]+)!/.exec(key)
  return found ? `${kinds[found[1]!]} ${found[2]}` : undefined
}
