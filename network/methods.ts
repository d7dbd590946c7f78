import type { PostAnswer } from '../kernel/contract/context.ts'
import type { RpcOptions } from '../storage/shared/rpc-port.ts'
import { errors } from '../workers/thrown.ts'
import type { PluginPost } from './post.ts'

/** The data that the posting thread is started with. */
export interface PostingData {
  /** As `egress.allow` of the configuration. */
  readonly allow: readonly string[]
}

/** The methods of the posting thread. */
export type PostingMethods = {
  post(sent: PluginPost): PostAnswer
}

/** Many posts begin and end in one turn of the event loop. */
export const rpc: RpcOptions = { gathers: true, errors }
