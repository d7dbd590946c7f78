import { z } from 'zod'
import { type Awaitable, badRequest, type JsonObject, tooLarge } from '#kernel'
import {
  chatBody,
  completionBody,
  embeddingBody,
  findExcess,
  type JsonBounds,
  problemOf,
  type Schemas,
  takingTurns,
} from '#kit'
import type { BatchType } from './rows.ts'

/** An item that can be made. */
export interface Item {
  readonly custom_id?: string | undefined
  readonly body: unknown
}

/** What items are held to. */
export interface Demands {
  readonly type: BatchType
  /** Of bodies that name none. */
  readonly model: string | undefined
  /** The `input_schema` of the workflow. */
  readonly schema: Record<string, unknown> | undefined
  readonly schemas: Schemas
  readonly mostItems: number
  /** Bytes of JSON of the input of a workflow. */
  readonly mostBytes: number
  /** The name of an item in refusals: `input.3`, or `line 4`. */
  readonly nameOf: (index: number) => string
}

/** Of an item's body, the one that is made; throws or rejects with a refusal for one that cannot be. */
type BodyCheck = (body: unknown, at: string) => Awaitable<unknown>

type CallType = Exclude<BatchType, 'workflow'>
const urls = { chat: '/v1/chat/completions', completion: '/v1/completions', embedding: '/v1/embeddings' }
const forms = { chat: chatBody, completion: completionBody, embedding: embeddingBody }

/** An item with more than its body, in the form of OpenAI's files. */
const envelope = z.strictObject({
  custom_id: z.string().min(1).max(200).optional(),
  method: z.literal('POST').optional(),
  url: z.string().optional(),
  body: z.unknown(),
})

/** How far a line may go: as far as the body of a call, unless the operator has changed that. */
const bounds: JsonBounds = { depth: 128, nodes: 100_000 }
const excesses = {
  depth: `is nested more than ${bounds.depth} levels deep`,
  nodes: `has more than ${bounds.nodes} values`,
}

/**
 * The values of lines of JSON; empty lines count for nothing. Others have their turn meanwhile. Rejects with a bad request that names
 * the line.
 */
export async function linesOf(file: Buffer, most: number): Promise<unknown[]> {
  const turn = takingTurns()
  const values: unknown[] = []
  for (let at = 0, n = 1; at < file.length; at += 1) {
    const byte = file[at]!
    if (byte === lineFeed) n += 1
    if (isSpace(byte)) continue
    const found = file.indexOf(lineFeed, at)
    const end = found === -1 ? file.length : found
    if (values.length >= most) throw tooMany(most, 'file')
    await turn()
    values.push(lineIn(file.subarray(at, end), `line ${n}`))
    at = end
    n += 1
  }
  if (values.length === 0) throw badRequest('The file has no lines.', { param: 'file' })
  return values
}

const lineFeed = 0x0a
/** Whether it is white space of JSON. */
const isSpace = (byte: number): boolean =>
  byte === 0x20 || byte === lineFeed || byte === 0x0d || byte === 0x09

function lineIn(line: Buffer, param: string): unknown {
  const excess = findExcess(line, bounds)
  if (excess) throw wrong(param, excesses[excess])
  try {
    return JSON.parse(line.toString('utf8'))
  } catch {
    throw wrong(param, 'is no JSON')
  }
}

/** Items that can be made. Rejects with a refusal that names the first field that is wrong. Others have their turn meanwhile. */
export async function checkedItems(input: readonly unknown[], demands: Demands): Promise<Item[]> {
  if (input.length > demands.mostItems) throw tooMany(demands.mostItems, 'input')
  const check = demands.type === 'workflow' ? await inputCheck(demands) : bodyCheck(demands.type, demands)
  const ids = new Set<string>()
  const items: Item[] = []
  const turn = takingTurns()
  for (const [index, given] of input.entries()) {
    await turn()
    const at = demands.nameOf(index)
    const { custom_id, url, body } = openedOf(given, at)
    if (custom_id !== undefined && ids.size === ids.add(custom_id).size)
      throw wrong(`${at}.custom_id`, 'another item has it')
    if (url !== undefined && (demands.type === 'workflow' || url !== urls[demands.type]))
      throw wrong(`${at}.url`, `does not fit the type ${demands.type}`)
    items.push({ custom_id, body: await check(body, at) })
  }
  return items
}

function openedOf(given: unknown, at: string): z.infer<typeof envelope> {
  if (typeof given !== 'object' || given === null || !Object.hasOwn(given, 'body')) return { body: given }
  const { data, error } = envelope.safeParse(given)
  if (data) return data
  throw wrongBy(error, at)
}

/** Of a body that can be sent, the one that is: its model said, and nothing streamed. */
function bodyCheck(type: CallType, { model }: Demands): BodyCheck {
  const form = forms[type]
  return (given, at) => {
    if (typeof given !== 'object' || given === null || Array.isArray(given))
      throw wrong(at, 'must be an object')
    const {
      stream,
      stream_options: _,
      ...body
    } = { ...(model !== undefined && { model }), ...given } as {
      readonly stream?: unknown
      readonly stream_options?: unknown
    }
    if (stream === true) throw wrong(`${at}.stream`, 'answers of a batch are not streamed')
    const { error } = form.safeParse(body)
    if (error) throw wrongBy(error, at)
    return body
  }
}

async function inputCheck({ schema, schemas, mostBytes }: Demands): Promise<BodyCheck> {
  const held = schema && (await schemas.read(schema as JsonObject))
  return async (input, at) => {
    if (Buffer.byteLength(JSON.stringify(input)) > mostBytes)
      throw tooLarge(`${at}: an input may have ${mostBytes} bytes.`, { param: at })
    const [problem] = (await held?.check(input))?.problems ?? []
    if (problem !== undefined) throw wrong(at, `does not match the input_schema of the workflow: ${problem}`)
    return input
  }
}

const tooMany = (most: number, param: string) =>
  tooLarge(`${param}: a batch may have ${most} items.`, { param })

const wrong = (at: string, what: string) => badRequest(`${at}: ${what}.`, { param: at })

function wrongBy(error: z.ZodError, at: string) {
  const [issue] = error.issues
  return wrong([at, ...(issue?.path ?? [])].join('.'), issue ? problemOf(issue) : 'is wrong')
}
