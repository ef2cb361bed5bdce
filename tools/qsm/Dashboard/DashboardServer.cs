using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Dashboard;

// The web server: the page, its events, and the signs as an object. It keeps no log: addresses of requests may contain the token.
internal sealed class DashboardServer : IAsyncDisposable
{
    // Browsers at the same time: each costs a connection and the bytes of each second.
    public const int MostBrowsers = 16;

    // With room for pages that are loaded and for scripts.
    private const int MostConnections = 4 * MostBrowsers;
    // Room for all browsers behind one proxy or tunnel.
    private const int MostConnectionsOfAddress = MostConnections / 2;

    // A browser sends the head of a request at once, and connects again when it asks for more.
    private static readonly TimeSpan HeadLimit = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan IdleLimit = TimeSpan.FromSeconds(10);

    private readonly WebApplication _application;
    private readonly DashboardAccess _access;
    private readonly SignsGathering _gathering;
    private readonly SignsBroadcast _broadcast;
    private readonly TopicPages _topics;
    private readonly DashboardPlaces _places = new(MostConnections, MostConnectionsOfAddress, Terminal.Note);

    private DashboardServer(
        WebApplication application, DashboardAccess access, SignsGathering gathering, SignsBroadcast broadcast, TopicPages topics)
    {
        _application = application;
        _access = access;
        _gathering = gathering;
        _broadcast = broadcast;
        _topics = topics;
    }

    /// <summary>Where it listens.</summary>
    public IPEndPoint EndPoint
    {
        get
        {
            var url = new Uri(_application.Urls.First());
            return new IPEndPoint(IPAddress.Parse(url.Host), url.Port);
        }
    }

    // Cookies are of a host and not of a port: two dashboards of one machine have each their own.
    private string CookieName => $"qsm-dashboard-{EndPoint.Port}";

    /// <exception cref="ToolException">The address cannot be listened on.</exception>
    public static async Task<DashboardServer> StartAsync(
        IPEndPoint listen, DashboardAccess access, SignsGathering gathering, SignsBroadcast broadcast, TopicPages topics)
    {
        DashboardPlaces? places = null;
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel =>
        {
            kestrel.Listen(listen, endpoint =>
            {
                endpoint.Protocols = HttpProtocols.Http1;
                endpoint.Use(next => connection => ServeAsync(connection, next, places!));
            });
            kestrel.AddServerHeader = false;
            kestrel.Limits.RequestHeadersTimeout = HeadLimit;
            kestrel.Limits.KeepAliveTimeout = IdleLimit;
            kestrel.Limits.MaxRequestBodySize = 4_096;
        });
        builder.Services.AddRoutingCore();
        builder.Services.Configure<HostOptions>(static options => options.ShutdownTimeout = TimeSpan.FromSeconds(2));
        var application = builder.Build();
        var server = new DashboardServer(application, access, gathering, broadcast, topics);
        places = server._places;
        application.Use(server.GuardAsync);
        application.UseRouting();
        application.MapGet("/", server.GetPageAsync);
        application.MapGet("/events", server.GetEventsAsync);
        application.MapGet("/signs.json", server.GetSignsAsync);
        application.MapGet("/topic.json", server.GetTopicAsync);
        application.MapPost("/sign-in", server.SignInAsync);
        try
        {
            await application.StartAsync();
            return server;
        }
        catch (Exception exception) when (exception is IOException or SocketException)
        {
            await application.DisposeAsync();
            bool isTaken = exception.InnerException is Microsoft.AspNetCore.Connections.AddressInUseException
                || exception is SocketException { SocketErrorCode: SocketError.AddressAlreadyInUse };
            string why = isTaken
                ? "another program listens there. Choose another port with --listen, or port 0, which selects a free one."
                : exception.Message;
            throw new ToolException(ExitCode.Failed, $"Cannot listen on {listen}: {why}", exception);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _application.StopAsync();
        await _application.DisposeAsync();
    }

    // A connection, if there is a place for it.
    private static async Task ServeAsync(ConnectionContext connection, ConnectionDelegate next, DashboardPlaces places)
    {
        var address = (connection.RemoteEndPoint as IPEndPoint)?.Address ?? IPAddress.None;
        if (!places.TryTake(connection.ConnectionId, address, connection.Abort))
        {
            connection.Abort();
            return;
        }

        try
        {
            await next(connection);
        }
        finally
        {
            places.GiveBack(connection.ConnectionId);
        }
    }

    // In front of all routes.
    private async Task GuardAsync(HttpContext context, RequestDelegate next)
    {
        var (request, response) = (context.Request, context.Response);
        response.Headers.XContentTypeOptions = "nosniff";
        response.Headers["Referrer-Policy"] = "no-referrer";
        response.Headers["Cross-Origin-Resource-Policy"] = "same-origin";
        response.Headers["Cross-Origin-Opener-Policy"] = "same-origin";
        response.Headers.CacheControl = "no-store";
        if (!_access.AllowsHost(request.Host.Host))
        {
            string names = "Use the address of this machine, or start the dashboard with --host NAME to allow a name.";
            await RefuseAsync(response, StatusCodes.Status403Forbidden, $"The dashboard is not served under this name. {names}");
            return;
        }

        // A page of another site may let a browser ask, although it cannot read the answers. These would take the places of others.
        bool isPage = request.Path == "/" || request.Path == "/sign-in";
        if (!isPage && request.Headers["Sec-Fetch-Site"] is [{ } site] && site is "cross-site" or "same-site")
        {
            await RefuseAsync(response, StatusCodes.Status403Forbidden, "Pages of other sites have no access.");
            return;
        }

        if (_access.NeedsToken && !IsKnown(request) && request.Path != "/sign-in")
        {
            string? shown = request.Path == "/" ? request.Query["token"].FirstOrDefault() : null;
            await (_access.IsToken(shown) ? AdmitAsync(response) : AskForTokenAsync(context, isPage, wasWrong: shown is not null));
            return;
        }

        if (!_access.NeedsToken || IsKnown(request))
        {
            _places.OnAdmitted(context.Connection.Id);
        }

        await next(context);
    }

    private bool IsKnown(HttpRequest request) => _access.IsSession(request.Cookies[CookieName])
        || (request.Headers.Authorization is [{ } authorization]
            && authorization.StartsWith("Bearer ", StringComparison.OrdinalIgnoreCase)
            && _access.IsToken(authorization["Bearer ".Length..].Trim()));

    private async Task SignInAsync(HttpContext context)
    {
        string? shown = null;
        if (context.Request.HasFormContentType)
        {
            var form = await context.Request.ReadFormAsync(context.RequestAborted);
            shown = form["token"].FirstOrDefault()?.Trim();
        }

        await (!_access.NeedsToken || _access.IsToken(shown)
            ? AdmitAsync(context.Response)
            : AskForTokenAsync(context, isPage: true, wasWrong: true));
    }

    // Not a redirection: a browser that was sent here by another site would follow it without the strict cookie.
    private Task AdmitAsync(HttpResponse response)
    {
        if (_access.Session is { } session)
        {
            response.Cookies.Append(
                CookieName, session, new CookieOptions { HttpOnly = true, SameSite = SameSiteMode.Strict, Path = "/" });
        }

        const string Html = "<!doctype html><html lang=\"en\"><title>qsm dashboard</title>"
            + "<meta http-equiv=\"refresh\" content=\"0;url=/\"><a href=\"/\">Open the dashboard</a>";
        response.Headers.ContentSecurityPolicy = DashboardPage.SecurityPolicy(DashboardPage.DrawNonce());
        return WriteAsync(response, "text/html; charset=utf-8", Html);
    }

    private static Task AskForTokenAsync(HttpContext context, bool isPage, bool wasWrong)
    {
        var response = context.Response;
        response.StatusCode = StatusCodes.Status401Unauthorized;
        if (!isPage)
        {
            response.Headers.WWWAuthenticate = "Bearer";
            const string Advice = "A token is needed. Open the link that 'qsm dashboard' printed, or send 'Authorization: Bearer TOKEN'.\n";
            return WriteAsync(response, "text/plain; charset=utf-8", Advice);
        }

        string nonce = DashboardPage.DrawNonce();
        response.Headers.ContentSecurityPolicy = DashboardPage.SecurityPolicy(nonce);
        return WriteAsync(response, "text/html; charset=utf-8", DashboardPage.SignIn(nonce, wasWrong));
    }

    private Task GetPageAsync(HttpContext context)
    {
        string nonce = DashboardPage.DrawNonce();
        context.Response.Headers.ContentSecurityPolicy = DashboardPage.SecurityPolicy(nonce);
        return WriteAsync(context.Response, "text/html; charset=utf-8", DashboardPage.Html(nonce));
    }

    private async Task GetSignsAsync(HttpContext context)
    {
        if (await _gathering.ReadAsync(context.RequestAborted) is { } signs)
        {
            await WriteAsync(context.Response, "application/json", signs.Report.ToJson() + "\n");
            return;
        }

        await RefuseAsync(context.Response, StatusCodes.Status503ServiceUnavailable, _gathering.Trouble?.Reason ?? "No signs yet.");
    }

    private async Task GetTopicAsync(HttpContext context)
    {
        var (status, text) = await _topics.GetAsync(context.Request.Query["name"].FirstOrDefault(), context.RequestAborted);
        await (status == StatusCodes.Status200OK
            ? WriteAsync(context.Response, "application/json", text + "\n")
            : RefuseAsync(context.Response, status, text));
    }

    private async Task GetEventsAsync(HttpContext context)
    {
        using var viewer = _broadcast.TryAdd(context.Connection.RemoteIpAddress);
        if (viewer is null)
        {
            await RefuseAsync(
                context.Response,
                StatusCodes.Status503ServiceUnavailable,
                $"{MostBrowsers} browsers look already: {_broadcast.Holders}. Close one of them.");
            return;
        }

        var stopping = _application.Lifetime.ApplicationStopping;
        using var end = CancellationTokenSource.CreateLinkedTokenSource(context.RequestAborted, stopping);
        context.Response.ContentType = "text/event-stream";
        var body = context.Response.BodyWriter;
        try
        {
            _gathering.Wake();
            foreach (var frame in _gathering.Welcome())
            {
                await body.WriteAsync(frame, end.Token);
            }

            // Waits for the browser; what comes meanwhile is the broadcast's to keep or to drop.
            await foreach (var frame in viewer.Frames.ReadAllAsync(end.Token))
            {
                await body.WriteAsync(frame, end.Token);
            }
        }
        catch (OperationCanceledException) when (end.IsCancellationRequested)
        {
            // The browser, or the dashboard, has ended.
        }
    }

    private static Task RefuseAsync(HttpResponse response, int status, string why)
    {
        response.StatusCode = status;
        return WriteAsync(response, "text/plain; charset=utf-8", why + "\n");
    }

    private static Task WriteAsync(HttpResponse response, string type, string text)
    {
        response.ContentType = type;
        return response.WriteAsync(text);
    }
}
