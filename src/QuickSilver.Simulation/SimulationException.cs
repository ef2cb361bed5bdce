namespace QuickSilver.Simulation;

/// <summary>Code under simulation failed, or the simulation cannot go on; says when, where and under which seed.</summary>
internal sealed class SimulationException(string message, Exception? inner = null) : Exception(message, inner);
