using System.Net;
using System.Net.Sockets;
using System.Text.Json;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Commands;

// The web page of a cluster of processes on the loopback interface, as a program asks for it. How browsers show it is tested apart.
public sealed class DashboardScenarios : IDisposable
{
    private const int Failed = 1;
    private const int Usage = 2;

    private readonly string _cluster = $"dashboard {Guid.NewGuid():N}";
    private readonly ToolProcesses _processes = new();
    private readonly HttpClient _client = new(new SocketsHttpHandler { UseCookies = false }) { Timeout = ToolProcesses.Limit };

    [Fact]
    public async Task The_page_its_events_and_the_signs_are_served_and_a_signal_ends_it()
    {
        string service = _processes.StartService(_cluster);
        var subscriber = _processes.Start("sub", "news", "--gms", service, "--cluster", _cluster);
        ToolProcesses.Await(subscriber.StandardError, "ready");
        var (address, process) = StartDashboard("--gms", service);

        using var page = await _client.GetAsync(address);
        string html = await page.Content.ReadAsStringAsync();
        Assert.Equal("text/html", page.Content.Headers.ContentType!.MediaType);
        string policy = page.Headers.GetValues("Content-Security-Policy").Single();
        Assert.Contains("default-src 'none'", policy);
        string nonce = policy.Split("script-src 'nonce-")[1].Split('\'')[0];
        Assert.Contains($"<script nonce=\"{nonce}\">", html);
        Assert.DoesNotContain("{{", html.Replace("${{", "", StringComparison.Ordinal));
        Assert.DoesNotContain("src=\"http", html);
        using var again = await _client.GetAsync(address);
        Assert.DoesNotContain(nonce, again.Headers.GetValues("Content-Security-Policy").Single());

        var signs = JsonDocument.Parse(await _client.GetStringAsync(new Uri(address, "signs.json"))).RootElement;
        Assert.Equal(_cluster, signs.GetProperty("cluster").GetString());
        Assert.Equal("reported", signs.GetProperty("nodes").EnumerateArray().Single().GetProperty("state").GetString());

        using var events = await _client.GetAsync(new Uri(address, "events"), HttpCompletionOption.ResponseHeadersRead);
        Assert.Equal("text/event-stream", events.Content.Headers.ContentType!.MediaType);
        using var reader = new StreamReader(await events.Content.ReadAsStreamAsync());
        Assert.Contains("\"points\":[{", await NextAsync(reader, "history"));
        for (int i = 0; i < 3; i++)
        {
            var told = JsonDocument.Parse(await NextAsync(reader, "signs")).RootElement.GetProperty("report");
            Assert.Contains(told.GetProperty("topics").EnumerateArray(), topic => topic.GetProperty("topic").GetString() == "news");
        }

        // With a browser attached.
        Interrupt(process);
        Assert.True(process.WaitForExit(ToolProcesses.Limit));
        Assert.Equal(0, process.ExitCode);
    }

    [Fact]
    public async Task Connections_without_the_token_keep_no_user_with_it_out()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "other systems have one loopback address");
        const int Connections = 200;
        var variables = new Dictionary<string, string> { ["QSM_DASHBOARD_TOKEN"] = "0123456789abcdef" };
        var process = _processes.Start(
            variables, "dashboard", "--listen", "127.0.0.1:0", "--cluster", _cluster, "--gms", _processes.StartService(_cluster));
        var address = new Uri(ToolProcesses.Await(process.StandardError, "listening ")["listening ".Length..]);
        var strangers = new List<Socket>();
        try
        {
            for (int i = 0; i < Connections; i++)
            {
                var stranger = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                strangers.Add(stranger);
                stranger.Bind(new IPEndPoint(new IPAddress([127, 0, 0, (byte)(2 + (i % 4))]), 0));
                await stranger.ConnectAsync(IPAddress.Loopback, address.Port);
            }

            Assert.Equal(
                HttpStatusCode.OK, await StatusAsync(new Uri(address, "signs.json"), ("Authorization", "Bearer 0123456789abcdef")));
            string note = ToolProcesses.Await(process.StandardError, "The dashboard has room for 64 connections");
            Assert.Contains(" from 127.0.0.", note);
        }
        finally
        {
            strangers.ForEach(static one => one.Dispose());
        }
    }

    [Fact]
    public async Task A_service_that_ends_is_reported_and_one_that_comes_again_is_found()
    {
        var gms = _processes.Start("gms", "--listen", "127.0.0.1:0", "--cluster", _cluster);
        string service = ToolProcesses.Await(gms.StandardError, "listening ")["listening ".Length..];
        var (address, _) = StartDashboard("--gms", service);
        using var events = await _client.GetAsync(new Uri(address, "events"), HttpCompletionOption.ResponseHeadersRead);
        using var reader = new StreamReader(await events.Content.ReadAsStreamAsync());
        await NextAsync(reader, "signs");
        gms.Kill();
        gms.WaitForExit();
        Assert.Contains(service, await NextAsync(reader, "trouble"));
        using var answer = await _client.GetAsync(new Uri(address, "signs.json"));
        Assert.Equal(HttpStatusCode.ServiceUnavailable, answer.StatusCode);
        ToolProcesses.Await(_processes.Start("gms", "--listen", service, "--cluster", _cluster).StandardError, "listening ");
        await NextAsync(reader, "signs");
    }

    [Fact]
    public async Task Requests_under_other_names_and_of_other_sites_are_refused()
    {
        var (address, _) = StartDashboard("--gms", _processes.StartService(_cluster), "--host", "watch.example");
        Assert.Equal(HttpStatusCode.Forbidden, await StatusAsync(address, ("Host", "evil.example")));
        Assert.Equal(HttpStatusCode.Forbidden, await StatusAsync(new Uri(address, "signs.json"), ("Host", "evil.example")));
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(address, ("Host", "watch.example")));
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(address, ("Host", $"localhost:{address.Port}")));
        Assert.Equal(HttpStatusCode.Forbidden, await StatusAsync(new Uri(address, "events"), ("Sec-Fetch-Site", "cross-site")));
        Assert.Equal(HttpStatusCode.NotFound, await StatusAsync(new Uri(address, "elsewhere")));
    }

    [Fact]
    public async Task Beyond_the_loopback_interface_the_drawn_token_of_the_link_is_needed()
    {
        string service = _processes.StartService(_cluster);
        var process = Start("--gms", service, "--listen", "0.0.0.0:0");
        var link = new Uri(ToolProcesses.Await(process.StandardError, "listening ")["listening ".Length..]);
        var address = new Uri($"http://127.0.0.1:{link.Port}/");
        Assert.StartsWith("?token=", link.Query);
        string token = link.Query["?token=".Length..];

        using var refused = await _client.GetAsync(address);
        Assert.Equal(HttpStatusCode.Unauthorized, refused.StatusCode);
        Assert.Contains("Open the link", await refused.Content.ReadAsStringAsync());
        Assert.Equal(HttpStatusCode.Unauthorized, await StatusAsync(new Uri(address, "events")));
        Assert.Equal(HttpStatusCode.Unauthorized, await StatusAsync(new Uri(address, "signs.json")));
        Assert.Equal(HttpStatusCode.Unauthorized, await StatusAsync(new Uri(address, $"signs.json?token={token}")));
        Assert.Equal(HttpStatusCode.Unauthorized, await StatusAsync(new Uri(address, "?token=wrong")));
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(new Uri(address, "signs.json"), ("Authorization", $"Bearer {token}")));

        using var admitted = await _client.GetAsync(new Uri(address, link.Query));
        Assert.Equal(HttpStatusCode.OK, admitted.StatusCode);
        string cookie = admitted.Headers.GetValues("Set-Cookie").Single();
        Assert.Contains("httponly", cookie);
        Assert.Contains("samesite=strict", cookie);
        Assert.DoesNotContain(token, cookie);
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(new Uri(address, "signs.json"), ("Cookie", cookie.Split(';')[0])));
        Assert.Equal(HttpStatusCode.Unauthorized, await StatusAsync(address, ("Cookie", cookie.Split(';')[0] + "0")));
    }

    [Fact]
    public async Task A_chosen_token_is_not_printed_and_the_form_takes_it()
    {
        const string Token = "a-token-of-some-length";
        string file = Path.GetTempFileName();
        try
        {
            File.WriteAllText(file, Token + "\n");
            var process = Start("--gms", _processes.StartService(_cluster), "--listen", "127.0.0.1:0", "--token-file", file, "--verbose");
            string line = ToolProcesses.Await(process.StandardError, "listening ");
            Assert.DoesNotContain("token", line);
            var address = new Uri(line["listening ".Length..]);
            using var wrong = await SignInAsync(address, "another-token-of-some-length");
            Assert.Equal(HttpStatusCode.Unauthorized, wrong.StatusCode);
            Assert.Contains("not the token", await wrong.Content.ReadAsStringAsync());
            using var right = await SignInAsync(address, Token);
            Assert.Equal(HttpStatusCode.OK, right.StatusCode);
            Assert.Single(right.Headers.GetValues("Set-Cookie"));
            Interrupt(process);
            Assert.DoesNotContain(Token, await process.StandardError.ReadToEndAsync());
        }
        finally
        {
            File.Delete(file);
        }
    }

    [Fact]
    public async Task More_browsers_than_there_are_places_are_refused()
    {
        var (address, _) = StartDashboard("--gms", _processes.StartService(_cluster));
        var open = new List<HttpResponseMessage>();
        try
        {
            for (int i = 0; i < 16; i++)
            {
                open.Add(await _client.GetAsync(new Uri(address, "events"), HttpCompletionOption.ResponseHeadersRead));
                Assert.Equal(HttpStatusCode.OK, open[^1].StatusCode);
            }

            using var refused = await _client.GetAsync(new Uri(address, "events"));
            Assert.Equal(HttpStatusCode.ServiceUnavailable, refused.StatusCode);
            Assert.Contains("16 browsers", await refused.Content.ReadAsStringAsync());
        }
        finally
        {
            open.ForEach(static answer => answer.Dispose());
        }
    }

    [Fact]
    public void A_port_that_is_taken_is_named()
    {
        using var taken = new TcpListener(IPAddress.Loopback, 0);
        taken.Start();
        string address = taken.LocalEndpoint.ToString()!;
        var (code, _, errors) = _processes.Run("dashboard", "--listen", address, "--gms", _processes.StartService(_cluster));
        Assert.Equal(Failed, code);
        Assert.Contains($"Cannot listen on {address}: another program listens there. Choose another port with --listen", errors);
    }

    [Fact]
    public void A_token_that_is_too_short_and_a_file_that_is_not_there_are_refused()
    {
        string file = Path.GetTempFileName();
        try
        {
            File.WriteAllText(file, "secret");
            var (code, _, errors) = _processes.Run("dashboard", "--listen", "127.0.0.1:0", "--token-file", file);
            Assert.Equal(Usage, code);
            Assert.Contains("it has 6 characters, and at least 16 are needed", errors);
            Assert.DoesNotContain("secret", errors);
        }
        finally
        {
            File.Delete(file);
        }

        var (missing, _, said) = _processes.Run("dashboard", "--listen", "127.0.0.1:0", "--token-file", file);
        Assert.Equal(Usage, missing);
        Assert.Contains($"--token-file: {file} cannot be read", said);
    }

    [Fact]
    public void The_service_of_another_cluster_ends_it()
    {
        var (code, _, errors) = _processes.Run(
            "dashboard", "--listen", "127.0.0.1:0", "--gms", _processes.StartService(_cluster), "--cluster", "other");
        Assert.Equal(Failed, code);
        Assert.Contains($"This membership service serves the cluster '{_cluster}', but 'other' was asked for.", errors);
    }

    public void Dispose()
    {
        _client.Dispose();
        _processes.Dispose();
    }

    private static async Task<string> NextAsync(StreamReader reader, string name)
    {
        using var limit = new CancellationTokenSource(ToolProcesses.Limit);
        while (await reader.ReadLineAsync(limit.Token) is { } line)
        {
            if (line == $"event: {name}")
            {
                return (await reader.ReadLineAsync(limit.Token))!["data: ".Length..];
            }
        }

        throw new EndOfStreamException($"The events ended before '{name}'.");
    }

    private static void Interrupt(System.Diagnostics.Process process)
    {
        const int Interrupt = 2;
        _ = Linux.Kill(process.Id, Interrupt);
    }

    private System.Diagnostics.Process Start(params string[] arguments) =>
        _processes.Start(["dashboard", "--cluster", _cluster, .. arguments]);

    private (Uri Address, System.Diagnostics.Process Process) StartDashboard(params string[] arguments)
    {
        var process = Start(["--listen", "127.0.0.1:0", .. arguments]);
        return (new Uri(ToolProcesses.Await(process.StandardError, "listening ")["listening ".Length..]), process);
    }

    private async Task<HttpStatusCode> StatusAsync(Uri address, params (string Name, string Value)[] headers)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, address);
        foreach (var (name, value) in headers)
        {
            request.Headers.TryAddWithoutValidation(name, value);
        }

        using var answer = await _client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
        return answer.StatusCode;
    }

    private async Task<HttpResponseMessage> SignInAsync(Uri address, string token)
    {
        using var form = new FormUrlEncodedContent([new("token", token)]);
        return await _client.PostAsync(new Uri(address, "sign-in"), form);
    }
}
