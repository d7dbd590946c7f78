import { takingTurns } from '../work/turns.ts'
import { Chunk } from './chunk.ts'
import { pieces } from './chunks.ts'
import type { ChoiceDelta, CompletionChunk, Delta } from './forms.ts'
import { mapChoice } from './texts.ts'

/** Characters of a text that filters look at without a turn for other work, and of each part of a longer one. */
const longest = 32_768
const partLength = 4096

/** Passes a chunk on at once; one with a long text in parts, with turns for other work, and then it is a promise. */
export function passInParts(chunk: Chunk, pass: (part: Chunk) => void): Promise<void> | undefined {
  const parts = partsOf(chunk)
  if (parts) return passInTurns(parts, pass)
  pass(chunk)
  return undefined
}

async function passInTurns(parts: readonly Chunk[], pass: (part: Chunk) => void): Promise<void> {
  const turn = takingTurns()
  for (const part of parts) {
    await turn()
    pass(part)
  }
}

/**
 * A chunk with a long text as chunks that say the same one after the other; undefined for any other. What log probabilities spell
 * out stays with its text.
 */
function partsOf(chunk: Chunk): Chunk[] | undefined {
  if (!mayBeLong(chunk)) return undefined
  const { choices } = chunk.data
  if (choices.some(({ logprobs }) => logprobs)) return undefined
  const rest: ChoiceDelta[] = []
  const first = choices.map((choice) => {
    const cut = mapChoice(choice, (text, { lane, wrap }) => {
      if (lane === undefined || text.length <= longest) return text
      const [start = '', ...more] = pieces(text, partLength)
      for (const piece of more) rest.push({ index: choice.index, ...wrap(piece), finish_reason: null })
      return start
    })
    if (cut === choice || !choice.finish_reason) return cut
    rest.push({ ...emptied(choice), finish_reason: choice.finish_reason })
    return { ...cut, finish_reason: null }
  })
  if (rest.length === 0) return undefined
  const { choices: _, usage, ...envelope } = chunk.data
  const chunkOf = (some: readonly ChoiceDelta[], more?: Partial<CompletionChunk>): Chunk =>
    Chunk.of({ ...envelope, choices: some, ...more })
  return [
    Chunk.of({ ...envelope, choices: first }, chunk.counted, chunk.events),
    ...rest.map((choice) => chunkOf([choice])),
    ...(usage ? [chunkOf([], { usage })] : []),
  ]
}

const emptied = ({ index, text }: ChoiceDelta): ChoiceDelta =>
  text === undefined ? { index, delta: {} } : { index, text: '' }

/** A look that costs the short ones next to nothing. */
function mayBeLong({ raw, seen }: Chunk): boolean {
  if (raw) return raw.length > longest
  return seen?.choices.some(({ text, delta = {} }) => isLong(text) || saysMuch(delta)) ?? false
}

function saysMuch(delta: Delta): boolean {
  for (const field in delta) if (isLong(delta[field])) return true
  return delta.tool_calls?.some((call) => isLong(call.function?.arguments)) ?? false
}

const isLong = (value: unknown): boolean => typeof value === 'string' && value.length > longest
