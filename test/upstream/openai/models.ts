import type { RecordedRequest } from '../record.ts'
import type { Answer, Rules } from '../wire.ts'
import { plain } from './answer.ts'
import { failure } from './failure.ts'

const LISTED = ['gpt-4o', 'gpt-4o-mini', 'text-embedding-3-small']

/** GET /v1/models. */
export function listModels(request: RecordedRequest, { models = LISTED }: Rules): Answer {
  return plain(request, {}, () => ({ object: 'list', data: models.map(model) }))
}

/** GET /v1/models/{id}; 404 for one that is not listed. */
export function retrieveModel(request: RecordedRequest, id: string, { models = LISTED }: Rules): Answer {
  if (models.includes(id)) return plain(request, {}, () => model(id))
  return failure(request, 404, { message: `The model '${id}' does not exist`, param: 'model' })
}

function model(id: string) {
  return { id, object: 'model', created: 1_715_367_049, owned_by: 'system' }
}
