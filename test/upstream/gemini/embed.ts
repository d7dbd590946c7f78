import { z } from 'zod'
import type { RecordedRequest } from '../record.ts'
import type { Script } from '../script.ts'
import { vectorOf } from '../vectors.ts'
import type { Answer } from '../wire.ts'
import { headers } from './failure.ts'
import { batchEmbedBody, embedBody } from './schema.ts'

const eitherBody = z.union([batchEmbedBody, embedBody])
type Item = z.infer<typeof embedBody>

/** POST …:embedContent and …:batchEmbedContents: vectors that depend on the text and nothing else. */
export function embed(request: RecordedRequest, script: Script): Answer {
  const body = eitherBody.parse(request.body)
  const made =
    'requests' in body ? { embeddings: body.requests.map(valuesOf) } : { embedding: valuesOf(body) }
  const frame = JSON.stringify(script.body === undefined ? made : script.body)
  return { status: 200, headers: headers('application/json; charset=UTF-8'), stream: false, frames: [frame] }
}

const valuesOf = ({ content, outputDimensionality = 768 }: Item): { values: number[] } => ({
  values: vectorOf(content.parts.map((part) => part.text).join(''), outputDimensionality),
})
