import { tokenize as cut } from '../openai/tokens.ts'
import type { RecordedRequest } from '../record.ts'
import type { Script } from '../script.ts'
import type { Answer } from '../wire.ts'
import { headers } from './failure.ts'
import { tokenizeBody } from './schema.ts'

/** POST /v1/tokenize. */
export function tokenize(request: RecordedRequest, script: Script): Answer {
  const token_strings = cut(tokenizeBody.parse(request.body).text)
  const made = {
    tokens: token_strings.map((_, i) => i),
    token_strings,
    meta: { api_version: { version: '1' } },
  }
  const frame = JSON.stringify(script.body === undefined ? made : script.body)
  return { status: 200, headers: headers('application/json'), stream: false, frames: [frame] }
}
