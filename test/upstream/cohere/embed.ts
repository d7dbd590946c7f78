import { countTokens } from '../openai/tokens.ts'
import type { RecordedRequest } from '../record.ts'
import type { Script } from '../script.ts'
import { vectorOf } from '../vectors.ts'
import type { Answer } from '../wire.ts'
import { headers } from './failure.ts'
import { embedBody } from './schema.ts'

/** POST /v2/embed: vectors that depend on the text and nothing else. */
export function embed(request: RecordedRequest, script: Script): Answer {
  const { texts, output_dimension: length = 1536 } = embedBody.parse(request.body)
  const made = {
    id: `emb-${request.ordinal}`,
    embeddings: { float: texts.map((text) => vectorOf(text, length)) },
    texts,
    meta: { api_version: { version: '2' }, billed_units: { input_tokens: countTokens(texts.join(' ')) } },
    response_type: 'embeddings_by_type',
  }
  const frame = JSON.stringify(script.body === undefined ? made : script.body)
  return { status: 200, headers: headers('application/json'), stream: false, frames: [frame] }
}
