using System.Net;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Client.Watching;
using QuickSilver.Tool.Sessions;
using QuickSilver.Tool.Top;

namespace QuickSilver.Tool.Doctor.Facts;

// What came of one question to a service. Answer or Fault: one of them. Service: the one that was asked last; null: none was found.
internal sealed record WatchReply(ClusterSnapshot? Answer, ToolException? Fault, IPEndPoint? Service)
{
    /// <summary>Whether a server answered that it does not lead, and none was found that does.</summary>
    public bool IsWithoutLeader { get; init; }

    /// <summary>Why the keys of this host and of the service that was asked last do not fit, if there is no answer for that.</summary>
    public KeyFault KeyFault { get; init; }

    /// <summary>Whether no service was asked because of what the options name.</summary>
    public bool IsKeyUnusable => Fault is { ExitCode: ExitCode.Usage };

    /// <summary>Of the servers that have shown one.</summary>
    public IReadOnlyDictionary<IPEndPoint, PeerCertificate> Certificates { get; init; } = new Dictionary<IPEndPoint, PeerCertificate>();

    /// <summary>Under which the nodes seal echoes; null: they do not, or it is not known.</summary>
    public ClusterKey? ClusterKey { get; init; }

    /// <param name="start">Finds the service.</param>
    /// <param name="interrupted">Ends it.</param>
    /// <param name="awaitsNodes">Whether nodes that do not answer are asked again.</param>
    public static async Task<WatchReply> AskAsync(
        Func<Task<ClusterWatch>> start, CancellationToken interrupted, bool awaitsNodes = false)
    {
        ClusterWatch watch;
        try
        {
            watch = await start();
        }
        catch (ToolException fault)
        {
            return new WatchReply(Answer: null, fault, Service: null);
        }

        await using (watch)
        {
            ClusterSnapshot? answer = null;
            ToolException? fault = null;
            try
            {
                answer = awaitsNodes
                    ? await PatientAnswer.AskAsync(() => watch.AskAsync(interrupted))
                    : await watch.AskAsync(interrupted);
            }
            catch (ToolException exception)
            {
                fault = exception;
            }

            return new WatchReply(answer, fault, watch.Service)
            {
                IsWithoutLeader = watch.IsWithoutLeader,
                KeyFault = watch.KeyFault,
                Certificates = watch.Certificates,
                ClusterKey = watch.ClusterKey,
            };
        }
    }
}
