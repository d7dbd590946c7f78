import { LRUCache } from 'lru-cache'
import { type Danger, type Examiner, inOrder } from './danger.ts'
import { type Block, longestBlock } from './fences.ts'
import { type Language, languagesOf, withoutPrompts } from './languages.ts'

/** Blocks whose dangers are kept at hand: a stream shows the same block again with later text. */
const most = { blocks: 100, characters: 1_000_000 }

/** Brackets within brackets: grammars take long for more, and programs of people have a tenth. */
const deepest = 200

function nestsTooDeep(text: string, start: number, end: number): boolean {
  let depth = 0
  for (let i = start; i < end; i += 1) {
    const character = text[i]!
    if ('([{'.includes(character)) depth += 1
    else if (')]}'.includes(character) && depth > 0) depth -= 1
    if (depth > deepest) return true
  }
  return false
}

/** Examines blocks of code, and remembers the last ones. */
export class Examination {
  readonly #examiners: ReadonlyMap<Language, Examiner>
  readonly #known = new LRUCache<string, readonly Danger[]>({
    max: most.blocks,
    maxSize: most.characters,
    sizeCalculation: (_, key) => key.length,
  })

  constructor(examiners: ReadonlyMap<Language, Examiner>) {
    this.#examiners = examiners
  }

  /** The dangers of a block, by their places in the text. One that is too long or too deep to be read is a danger as a whole. */
  dangersIn(text: string, { label, start, end }: Block): readonly Danger[] {
    if (end - start > longestBlock || nestsTooDeep(text, start, end))
      return [{ start, end, kind: 'unread', severity: 'high' }]
    return this.ofCode(text.slice(start, end), languagesOf(label)).map((danger) => ({
      ...danger,
      start: start + danger.start,
      end: start + danger.end,
    }))
  }

  /** The dangers of code that is in one of these languages. */
  ofCode(code: string, languages: readonly Language[]): readonly Danger[] {
    const key = `${languages.join()}\n${code}`
    const known = this.#known.get(key)
    if (known) return known
    const plain = withoutPrompts(code)
    const found = inOrder(
      languages.flatMap((language) => {
        const dangers = this.#examiners.get(language)?.(plain) ?? []
        // Words in another language look like imports of packages.
        return languages.length === 1
          ? dangers
          : dangers.filter(({ kind }) => kind !== 'package' || language === 'shell')
      }),
    )
    this.#known.set(key, found)
    return found
  }
}
