-- A payment to one person.
request = function()
    return wrk.format("POST", "/people/" .. math.random(0, 99999) .. "/pay/1.5")
end
