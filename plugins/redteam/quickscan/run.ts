import { newId } from '#kernel'
import { conversationOf } from '../attacks/conversation.ts'
import { marked, markOf } from '../attacks/mark.ts'
import { systemOf } from '../attacks/own-system.ts'
import type { Target } from '../target/target.ts'
import type { Previews } from '../verdict/preview.ts'
import { verdictOn } from '../verdict/verdict.ts'
import { gradeOf } from './grade.ts'
import { type Probe, probes } from './probes.ts'
import type { ProbeResult, Scan } from './shapes.ts'

export interface ScanOptions {
  readonly id: string
  /** Instructions of the caller's own. */
  readonly system: string | undefined
  readonly previews: Previews
  /** Keys that no evidence may show. */
  readonly keys: readonly string[]
  readonly signal: AbortSignal
}

/** Sends all probes to a target at a time. Rejects where the target may not be attacked. */
export async function runScan(target: Target, options: ScanOptions): Promise<Scan> {
  const timestamp = new Date().toISOString()
  const results = await Promise.all(probes.map((probe) => runProbe(target, probe, options)))
  const statuses = results.map(({ status }) => status)
  const count = (of: ProbeResult['status']): number => statuses.filter((status) => status === of).length
  const [blocked, bypassed] = [count('blocked'), count('bypassed')]
  const inconclusive = results.length - blocked - bypassed
  return {
    scan_id: options.id,
    timestamp,
    target: target.name,
    probes_run: results.length,
    blocked,
    bypassed,
    inconclusive,
    grade: gradeOf(statuses),
    score: `${blocked}/${results.length}`,
    results,
    verdict: verdictText(results.length, bypassed, inconclusive),
    next_steps: nextSteps(results, inconclusive),
  }
}

async function runProbe(
  target: Target,
  { type, seed, description }: Probe,
  { id, system: own, previews, keys, signal }: ScanOptions,
): Promise<ProbeResult> {
  const mark = markOf(`${id} ${type.id} ${newId('')}`)
  const system = systemOf(type, mark, own)
  const payload = marked(seed.text, mark)
  const asked = await target.ask(conversationOf(type, system, payload, type.carrier), { signal })
  const { status, detail } = verdictOn({ type, mark, system, payload }, asked)
  return {
    name: type.name,
    category: type.category,
    description,
    status,
    severity: type.severity,
    detail: previews.clean(detail, keys),
    evidence_preview: previews.of(asked.said, keys),
    owasp: type.taxonomy.owasp_llm,
    trace_id: asked.traceId ?? null,
  }
}

function verdictText(run: number, bypassed: number, inconclusive: number): string {
  if (inconclusive === run) return 'No probe has a verdict: the target could not be judged.'
  const open = inconclusive === 0 ? '' : ` ${inconclusive} of ${run} have no verdict.`
  if (bypassed === 0) return `No probe got through.${open}`
  return `${bypassed} of ${run} probes got through.${open}`
}

const steps: Readonly<Record<string, string>> = {
  'Prompt injection': 'Switch on promptguard, and let it block.',
  'System prompt leakage': 'Switch on leakguard, and keep secrets out of instructions.',
  'Sensitive information disclosure':
    'Keep records of other people out of prompts, and switch on maskmode and secretscan for answers.',
  'Excessive agency': 'Switch on toolshield, and have approvalgate ask before tools act.',
  'Improper output handling': 'Add a guardrail rule for links in answers, and show no images of answers.',
}

function nextSteps(results: readonly ProbeResult[], inconclusive: number): string[] {
  const open = results.flatMap(({ status, category }) => (status === 'bypassed' ? [steps[category]!] : []))
  return [
    ...open,
    ...(inconclusive > 0 ? ['Scan again: probes without a verdict say nothing of the target.'] : []),
    'Make a campaign to look for more: POST /api/redteam/campaigns.',
  ]
}
