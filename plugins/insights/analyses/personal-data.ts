import { type Analysis, mostExamples } from '../insight.ts'

/** Personal data that guards have found, and whether it was kept from providers and clients. */
export function personalData(): Analysis {
  const byLabel: Record<string, number> = {}
  const examples: string[] = []
  let [calls, open] = [0, 0]
  return {
    add({ id, findings = [] }) {
      const found = findings.filter(({ type }) => type === 'pii')
      if (found.length === 0) return
      calls += 1
      const passed = found.some(
        ({ action, mode }) => mode === 'shadow' || action === 'warn' || action === 'log',
      )
      if (passed) open += 1
      for (const { label, count } of found) byLabel[label] = (byLabel[label] ?? 0) + count
      if (examples.length < mostExamples) examples.push(id)
    },
    found() {
      if (calls === 0) return []
      return [
        {
          type: 'pii_detected',
          subject: '',
          severity: open > 0 ? 'high' : 'low',
          title: 'Calls contain personal data',
          description:
            open > 0
              ? `Guards found personal data in ${calls} calls and let it pass in ${open}.`
              : `Guards found personal data in ${calls} calls and removed or blocked it.`,
          evidence: { calls, passed: open, by_category: byLabel, trace_ids: examples },
          savedNano: 0,
        },
      ]
    },
  }
}
