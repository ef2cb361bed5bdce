using System.Collections.Concurrent;
using System.Globalization;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;

namespace QuickSilver.Hosting.Tests.Telemetry;

// A point of a metric as it was exported, with the tags of its meter and its own.
internal sealed record ExportedPoint(
    string Service, string Meter, string Name, string Unit, string Kind, IReadOnlyDictionary<string, string> Tags, double Value);

internal sealed record ExportedSpan(
    string Service, string Source, string Name, int Kind, string Trace, string Id, string Parent, IReadOnlyDictionary<string, string> Tags);

// The collector of the tests: a web server on a free port of the loopback interface that takes OTLP over HTTP in protobuf, which is what
// any collector of OpenTelemetry takes. The field numbers are those of opentelemetry-proto 1.x.
internal sealed class OtlpReceiver : IAsyncDisposable
{
    private readonly WebApplication _server;

    private OtlpReceiver(WebApplication server) => _server = server;

    /// <summary>The last point of each series of each service.</summary>
    public ConcurrentDictionary<string, ExportedPoint> Points { get; } = new();

    public ConcurrentQueue<ExportedSpan> Spans { get; } = new();

    public Uri EndPoint => new(_server.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.First());

    public static async Task<OtlpReceiver> StartAsync()
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        var receiver = new OtlpReceiver(builder.Build());
        receiver._server.MapPost("/v1/metrics", context => ReadAsync(context, receiver.TakeMetrics));
        receiver._server.MapPost("/v1/traces", context => ReadAsync(context, receiver.TakeSpans));
        await receiver._server.StartAsync();
        return receiver;
    }

    public ValueTask DisposeAsync() => _server.DisposeAsync();

    private static async Task ReadAsync(HttpContext context, Action<ProtobufTree> take)
    {
        Assert.Equal("application/x-protobuf", context.Request.ContentType);
        using var body = new MemoryStream();
        await context.Request.Body.CopyToAsync(body);
        take(ProtobufTree.Read(body.ToArray()));
        context.Response.ContentType = "application/x-protobuf";
    }

    private void TakeMetrics(ProtobufTree request)
    {
        foreach (var (service, scope) in Scopes(request))
        {
            foreach (var metric in scope.Each(2))
            {
                int kind = new[] { 5, 7, 9 }.Single(metric.Has);
                foreach (var point in metric.One(kind)!.Each(1))
                {
                    KeyValuePair<string, string>[] tags =
                        [.. Tags(scope.One(1)!.Each(3)), .. Tags(point.Each(kind == 9 ? 9 : 7)).OrderBy(static tag => tag.Key)];
                    double value = kind == 9 ? point.Number(4)
                        : point.Has(4) ? BitConverter.UInt64BitsToDouble(point.Number(4))
                        : (long)point.Number(6);
                    Points[$"{service} {metric.Text(1)} {string.Join(' ', tags)}"] = new ExportedPoint(
                        service,
                        scope.One(1)!.Text(1),
                        metric.Text(1),
                        metric.Text(3),
                        kind switch { 5 => "gauge", 7 => "sum", _ => "histogram" },
                        tags.ToDictionary(),
                        value);
                }
            }
        }
    }

    private void TakeSpans(ProtobufTree request)
    {
        foreach (var (service, scope) in Scopes(request))
        {
            foreach (var span in scope.Each(2))
            {
                Spans.Enqueue(new ExportedSpan(
                    service,
                    scope.One(1)!.Text(1),
                    span.Text(5),
                    (int)span.Number(6),
                    span.Hex(1),
                    span.Hex(2),
                    span.Hex(4),
                    Tags(span.Each(9)).ToDictionary()));
            }
        }
    }

    private static IEnumerable<(string Service, ProtobufTree Scope)> Scopes(ProtobufTree request) =>
        from resource in request.Each(1)
        let service = Tags(resource.One(1)!.Each(1)).ToDictionary().GetValueOrDefault("service.name", "")
        from scope in resource.Each(2)
        select (service, scope);

    private static IEnumerable<KeyValuePair<string, string>> Tags(IEnumerable<ProtobufTree> attributes) => attributes.Select(static one =>
        KeyValuePair.Create(
            one.Text(1),
            one.One(2) is not { } value ? ""
                : value.Has(1) ? value.Text(1)
                : value.Number(3).ToString(CultureInfo.InvariantCulture)));
}
