using System.Collections.Concurrent;
using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using QuickSilver.Composition;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Tool.Doctor.Checks;
using QuickSilver.Tool.Etcd;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Doctor.Facts;

// Asks each member of etcd how it is, over the same gateway as servers do.
internal static class EtcdReader
{
    private const int MostAnswerBytes = 1 << 20;
    // Of an alarm, which is text of etcd.
    private const int MostAlarmCharacters = 200;
    private const string NoLeader = "no leader";
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(3);

    /// <param name="session">Of the command.</param>
    /// <param name="access">Null: none is named, and there are no facts.</param>
    public static async Task<EtcdFacts?> ReadAsync(Session session, EtcdAccess? access)
    {
        if (access is null)
        {
            return null;
        }

        var facts = new EtcdFacts([], Voters: 0) { CertificateFile = access.Certificate?.Path, AuthorityFile = access.Authority?.Path };
        EtcdConnections connections;
        var shown = new ConcurrentDictionary<DnsEndPoint, CertificateDates>();
        var files = new List<CertificateDates>();
        try
        {
            connections = new EtcdConnections(access, SecurityComposition.LogOf(session.Logs))
            {
                Shown = (member, certificate) => shown[member] = SecurityReader.Of(certificate, CertificateUse.Etcd) with
                {
                    Role = SecurityReader.RoleOf(certificate),
                    Where = $"{(member.Host.Contains(':') ? $"[{member.Host}]" : member.Host)}:{member.Port}",
                },
            };
            files.AddRange(OfFiles(access));
        }
        catch (CredentialException unusable)
        {
            return facts with { Fault = unusable.Message };
        }

        using var http = connections.NewClient(Patience, MostAnswerBytes);
        var answers = await Task.WhenAll(access.Members.Select(member => AskAsync(connections, http, member, session.Interrupted)));
        return facts with
        {
            Answers = [.. answers.Select(static one => one.Answer)],
            Voters = answers.Max(static one => one.Voters),
            Certificates = [.. files, .. shown.Values.OrderBy(static one => one.Where, StringComparer.Ordinal)],
        };
    }

    private static IEnumerable<CertificateDates> OfFiles(EtcdAccess access)
    {
        if (access.Certificate is { Path: var path })
        {
            using var own = CredentialFiles.ReadCertificate(path, keyPath: null).Own;
            yield return SecurityReader.Of(own, CertificateUse.EtcdClient) with { File = path };
        }

        if (access.Authority is { Path: var authorityPath })
        {
            foreach (var authority in CredentialFiles.ReadAuthorities(authorityPath))
            {
                yield return SecurityReader.Of(authority, CertificateUse.EtcdAuthority) with { File = authorityPath };
            }
        }
    }

    private static async Task<(EtcdAnswer Answer, int Voters)> AskAsync(
        EtcdConnections connections, HttpClient http, Uri member, CancellationToken interrupted)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(interrupted);
        limit.CancelAfter(Patience);
        try
        {
            var (status, clockOffset) = await CallAsync(http, member, "v3/maintenance/status", EtcdJson.Default.EtcdStatus, limit.Token);
            var (list, _) = await CallAsync(http, member, "v3/cluster/member/list", EtcdJson.Default.EtcdMemberList, limit.Token);
            var answer = new EtcdAnswer(member, Fault: null)
            {
                Id = status.Header?.MemberId ?? 0,
                HasLeader = status.Leader != 0,
                ClockOffset = clockOffset,
                Alarms =
                [
                    .. (status.Errors ?? []).OfType<string>().Where(static one => !one.Contains(NoLeader, StringComparison.Ordinal))
                        .Select(static one => one.Length > MostAlarmCharacters ? one[..MostAlarmCharacters] : one),
                ],
            };
            return (answer, list.Members?.Count(static one => one is { IsLearner: false }) ?? 0);
        }
        catch (OperationCanceledException) when (!interrupted.IsCancellationRequested)
        {
            return (new EtcdAnswer(member, $"no answer within {Patience.TotalSeconds:0} s") { IsSilent = true }, 0);
        }
        catch (Exception exception) when (exception is HttpRequestException or JsonException or IOException)
        {
            bool isSilent = exception.GetBaseException() is SocketException;
            var fault = EtcdConnections.KeyFaultOf(member, exception);
            var answer = new EtcdAnswer(member, connections.InWords(member, exception))
            {
                IsSilent = isSilent && fault == EtcdKeyFault.None,
                KeyFault = fault,
            };
            return (answer, 0);
        }
    }

    private static async Task<(T Answer, TimeSpan ClockOffset)> CallAsync<T>(
        HttpClient http, Uri member, string path, JsonTypeInfo<T> type, CancellationToken cancellationToken)
    {
        using var content = new ByteArrayContent("{}"u8.ToArray());
        content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
        var asked = DateTimeOffset.UtcNow;
        using var response = await http.PostAsync(new Uri(member, path), content, cancellationToken);
        var answered = DateTimeOffset.UtcNow;
        byte[] answer = await response.Content.ReadAsByteArrayAsync(cancellationToken);
        return response.IsSuccessStatusCode
            ? (JsonSerializer.Deserialize(answer, type) ?? throw new JsonException("The answer is null."),
                ClockCheck.OffsetOf(response.Headers.Date, asked, answered))
            : throw new HttpRequestException(EtcdConnections.InWords(member, response.StatusCode, answer));
    }
}
