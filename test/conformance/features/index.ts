import type { Cell } from '../cell.ts'
import { images, jsonSchema, reasoning } from './asked.ts'
import { cachedUsage, usage } from './counts.ts'
import { brokenOff, end } from './ends.ts'
import { abort, errors, midStreamError } from './failures.ts'
import { toolNames } from './names.ts'
import { plain, stream } from './plain.ts'
import { cutOff, refusal, structuredStream } from './structured.ts'
import { parallelTools, tool } from './tools.ts'

/** The columns of the table: each holds when its test passes. */
export const features: Readonly<Record<string, (cell: Cell) => Promise<void>>> = {
  plain,
  stream,
  tools: tool,
  'parallel tools': parallelTools,
  'tool names': toolNames,
  images,
  reasoning,
  'JSON schema': jsonSchema,
  'structured stream': structuredStream,
  refusal,
  'cut off': cutOff,
  usage,
  'cached usage': cachedUsage,
  errors,
  'mid-stream error': midStreamError,
  'broken off': brokenOff,
  'ends at its end': end,
  abort,
}
