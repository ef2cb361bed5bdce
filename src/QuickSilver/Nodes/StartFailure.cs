using System.Net;
using QuickSilver.Composition;
using QuickSilver.Nodes.Measures;

namespace QuickSilver.Nodes;

// Why a node did not join in time, as far as its parts know.
internal static class StartFailure
{
    public static string InWords(INodeReports reports, IPAddress address, QuickSilverOptions options)
    {
        string where = (reports.LastRefusal, options.Membership.ServersInWords) switch
        {
            ({ } refusal, var service) => $"the service {(service is null ? "found" : $"at {service}")} refused this node: {refusal}",
            (null, { } service) => reports.LastFailure is { } failure
                ? $"the service at {service} did not admit this node ({failure})"
                : $"the service at {service} did not answer",
            (null, null) when reports.LastFailure is { } failure => $"the service that was found did not admit this node ({failure})",
            _ => $"no service was found on {address} (discovery port {options.DiscoveryPort}; one "
                + "with another secret does not answer), and "
                + (options.Membership.Mode == MembershipMode.Find
                    ? $"this node does not host one, because {MembershipOptions.ModeKey} is {nameof(MembershipMode.Find)}"
                    : reports.WhyNotHost is { } fault
                    ? $"this node does not host one, because other nodes would not accept its certificate as that of a service: {fault}. "
                        + "Issue one with 'qsm keys certificate --role both', or name a service"
                    : "none could be hosted here"),
        };
        return where.TrimEnd('.');
    }

    public static string WhatToDo(INodeReports reports) =>
        StatusReasons.RemedyFor(reports.LastRefusal is null ? StatusReasonKind.NotJoined : StatusReasonKind.Refused);
}
