/** How vendors and their models are called in texts, by what tells of them in the name of a provider or a model. */
const vendors: readonly (readonly [tell: RegExp, words: readonly string[]])[] = [
  [/openai|azure|gpt|^o\d/, ['OpenAI', 'ChatGPT', 'GPT']],
  [/azure/, ['Azure', 'Microsoft']],
  [/anthropic|claude/, ['Anthropic', 'Claude']],
  [/gemini|gemma|vertex|google/, ['Google DeepMind', 'Google', 'Gemini', 'Gemma', 'Vertex AI']],
  [/bedrock|nova|titan/, ['Amazon Bedrock', 'Amazon Nova', 'Amazon Titan', 'Bedrock', 'AWS']],
  [/llama|^meta/, ['Meta AI', 'Llama']],
  [/mi[sx]tral|codestral/, ['Mistral AI', 'Mistral', 'Mixtral', 'Ministral', 'Codestral']],
  [/qwen|qwq|dashscope/, ['Qwen', 'QwQ', 'Alibaba Cloud', 'Alibaba', 'DashScope', 'Tongyi Qianwen']],
  [/deepseek/, ['DeepSeek']],
  [/cohere|command-/, ['Cohere', 'Command A', 'Command R']],
  [/grok|xai/, ['Grok', 'xAI']],
  [/moonshot|kimi/, ['Moonshot AI', 'Kimi']],
  [/minimax/, ['MiniMax']],
  [/zai|glm/, ['Z.ai', 'Zhipu AI', 'Zhipu', 'GLM']],
  [/perplexity|sonar/, ['Perplexity AI', 'Sonar']],
  [/nvidia|nemotron/, ['NVIDIA', 'Nemotron']],
  [/groq/, ['Groq']],
  [/cerebras/, ['Cerebras']],
  [/sambanova/, ['SambaNova']],
  [/cloudflare/, ['Cloudflare', 'Workers AI']],
  [/deepinfra/, ['DeepInfra']],
  [/fireworks/, ['Fireworks AI', 'fireworks.ai']],
  [/together/, ['Together AI', 'together.ai']],
  [/replicate/, ['replicate.com']],
  [/openrouter/, ['OpenRouter']],
  [/huggingface/, ['Hugging Face', 'HuggingFace']],
  [/github/, ['GitHub Models']],
  [/ollama/, ['Ollama']],
  [/llamacpp/, ['llama.cpp']],
  [/lmstudio/, ['LM Studio']],
  [/vllm/, ['vLLM']],
]

/** The words for the vendors that names of providers and models tell of. */
export const vendorWords = (names: readonly string[]): string[] =>
  vendors.flatMap(([tell, words]) => (names.some((name) => tell.test(name.toLowerCase())) ? words : []))

export const allVendorWords: readonly string[] = vendors.flatMap(([, words]) => words)
