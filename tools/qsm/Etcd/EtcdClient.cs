using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Transport.Tls;

namespace QuickSilver.Tool.Etcd;

/// <summary>No member of the etcd cluster answered.</summary>
internal sealed class EtcdUnavailableException(string message, Exception? cause = null) : Exception(message, cause);

// Calls etcd's HTTP gateway: one member of the cluster after the other until one answers. Each call has an end.
internal sealed class EtcdClient : IDisposable
{
    // One member that does not answer leaves time to ask the others before a lease of two seconds ends.
    private static readonly TimeSpan UsualLimit = TimeSpan.FromMilliseconds(500);
    private const int MostAnswerBytes = 1 << 20;
    private const string Leases = "v3/lease/";

    private readonly EtcdConnections _connections;
    private readonly HttpClient _http;
    private readonly IReadOnlyList<Uri> _members;
    private readonly TimeSpan _callLimit;
    private int _current;

    /// <param name="access">Where etcd is.</param>
    /// <param name="log">The log for files of certificates that were read again.</param>
    /// <param name="callLimit">After so long, another member is asked; null: 500 ms.</param>
    /// <exception cref="CredentialException">A file cannot be used.</exception>
    public EtcdClient(EtcdAccess access, ILogger log, TimeSpan? callLimit = null)
    {
        _callLimit = callLimit ?? UsualLimit;
        _members = access.Members;
        _connections = new EtcdConnections(access, log);
        _http = _connections.NewClient(_callLimit, MostAnswerBytes);
    }

    /// <exception cref="EtcdUnavailableException">No member answered.</exception>
    public async Task<TResponse> CallAsync<TRequest, TResponse>(
        string path,
        TRequest request,
        JsonTypeInfo<TRequest> requestType,
        JsonTypeInfo<TResponse> responseType,
        CancellationToken cancellationToken)
    {
        byte[] body = JsonSerializer.SerializeToUtf8Bytes(request, requestType);
        List<string> failures = [];
        int refusals = 0;
        Exception? cause = null;
        foreach (int _ in Enumerable.Range(0, _members.Count))
        {
            var member = _members[_current];
            try
            {
                using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
                limit.CancelAfter(_callLimit);
                using var response = await _http.PostAsync(new Uri(member, path), Content(body), limit.Token);
                byte[] answer = await response.Content.ReadAsByteArrayAsync(limit.Token);
                // A lease that has ended is not found, and the answer has no fields.
                bool isEndedLease = response.StatusCode == HttpStatusCode.NotFound && path.StartsWith(Leases, StringComparison.Ordinal);
                if (response.IsSuccessStatusCode || isEndedLease)
                {
                    var read = JsonSerializer.Deserialize(answer, responseType) ?? throw new JsonException("The answer is null.");
                    if (isEndedLease || read is not IEtcdStreamed { Error: not null })
                    {
                        return read;
                    }
                }

                refusals++;
                failures.Add($"{member}: {EtcdConnections.InWords(member, response.StatusCode, answer)}");
            }
            catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
            {
                failures.Add($"{member}: no answer within {_callLimit.TotalMilliseconds:0} ms");
            }
            catch (Exception exception) when (exception is HttpRequestException or JsonException or IOException)
            {
                cause = exception;
                failures.Add($"{member}: {_connections.InWords(member, exception)}");
            }

            _current = (_current + 1) % _members.Count;
        }

        string all = string.Join("; ", failures);
        string what = refusals == failures.Count ? $"etcd refused a request ({all})." : $"No member of etcd answered ({all}).";
        throw new EtcdUnavailableException(EtcdRefusal.WhatToDo(all) is { } whatToDo ? $"{what} {whatToDo}" : what, cause);
    }

    /// <summary>Waits until the key is deleted, at most for a time. It may return early, so look afterwards.</summary>
    public async Task WaitForDeletionAsync(byte[] key, long revision, TimeSpan most, CancellationToken cancellationToken)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(most);
        try
        {
            var watch = new EtcdWatchRequest { CreateRequest = new EtcdWatchCreate { Key = key, StartRevision = revision } };
            using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(_members[_current], "v3/watch"))
            {
                Content = Content(JsonSerializer.SerializeToUtf8Bytes(watch, EtcdJson.Default.EtcdWatchRequest)),
            };
            using var response = await _http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, limit.Token);
            await using var stream = await response.EnsureSuccessStatusCode().Content.ReadAsStreamAsync(limit.Token);
            await foreach (var news in JsonSerializer.DeserializeAsyncEnumerable(
                stream, EtcdJson.Default.EtcdWatchResponse, topLevelValues: true, limit.Token))
            {
                if (news?.Result is not { Canceled: false } result || result.Events.Any(static one => one?.Type == "DELETE"))
                {
                    return;
                }
            }
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            // The time is over.
        }
        catch (Exception exception) when (exception is HttpRequestException or JsonException or IOException)
        {
            // Another member may answer; a pause keeps one that refuses at once from being asked all the time.
            _current = (_current + 1) % _members.Count;
            await Task.Delay(TimeSpan.FromMilliseconds(100), cancellationToken);
        }
    }

    public void Dispose() => _http.Dispose();

    private static ByteArrayContent Content(byte[] body)
    {
        var content = new ByteArrayContent(body);
        content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
        return content;
    }
}
