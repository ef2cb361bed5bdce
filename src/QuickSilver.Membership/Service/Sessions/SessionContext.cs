using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Service.Quotas;

namespace QuickSilver.Membership.Service.Sessions;

// What all sessions of a service share.
internal sealed record SessionContext(
    INodeEnvironment Environment,
    SessionLimits Limits,
    ServiceCounters Counters,
    ILogger Logger)
{
    public ControlBuffer Buffer { get; } = new();

    /// <summary>The log of admissions, refusals, and denied rights.</summary>
    public ILogger Audit { get; init; } = Logger;

    public RegistrationRoom Registrations { get; } = new(Limits);

    public KeptBytes Kept { get; } = new(Limits);
}
