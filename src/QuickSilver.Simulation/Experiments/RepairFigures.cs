namespace QuickSilver.Simulation.Experiments;

/// <summary>How what was lost came back.</summary>
/// <param name="Lost">Packets that a member found missing.</param>
/// <param name="RequestsPerLost">How often each was asked for, the mean.</param>
/// <param name="MedianMillis">From the gap's discovery to the packet, the median.</param>
/// <param name="MeanMillis">The same, the mean.</param>
/// <param name="WithinTwoMedians">The share that came within twice the median.</param>
/// <param name="AskedOfSender">The share that was asked of the sender itself at last.</param>
internal sealed record RepairFigures(
    long Lost, double RequestsPerLost, double MedianMillis, double MeanMillis, double WithinTwoMedians, double AskedOfSender);
