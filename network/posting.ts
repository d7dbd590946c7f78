import { parentPort, workerData } from 'node:worker_threads'
import type { Agent } from 'undici'
import { RpcPort } from '../storage/shared/rpc-port.ts'
import { Egress } from './egress.ts'
import { type PostingData, type PostingMethods, rpc } from './methods.ts'
import { type PluginPost, post } from './post.ts'

/** The thread from which the posts of plugins are made. */
const { allow } = workerData as PostingData
const egress = new Egress(allow)
/** By plugin and the hosts that it may reach. Connections without requests close by themselves. */
const agents = new Map<string, Agent>()

function agentOf({ plugin, hosts }: PluginPost): Agent {
  const key = JSON.stringify([plugin, hosts])
  const agent = agents.get(key) ?? egress.agent(plugin, hosts)
  agents.set(key, agent)
  return agent
}

new RpcPort<Record<string, never>, PostingMethods>(
  parentPort!,
  { post: (sent, { signal }) => post(sent, { signal, dispatcher: agentOf(sent) }) },
  rpc,
)
