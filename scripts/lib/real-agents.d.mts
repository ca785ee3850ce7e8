export declare function installRealAgents(
  log?: (line: string) => void,
): Promise<{ installed: Record<string, string>; missing: Record<string, string> }>;
